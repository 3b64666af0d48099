"""A munged of our own: its key, socket and everything else in one folder, nothing shared with the host's munged."""
import os

from process import Daemon


def start_munged(directory):
    folder = os.path.join(directory, "munge")
    os.mkdir(folder, 0o755)
    key = os.path.join(folder, "munge.key")
    with open(os.open(key, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(os.urandom(128))
    socket = os.path.join(folder, "socket")
    log = os.path.join(folder, "munged.log")
    # --force: the parents of a temporary folder need not satisfy munged's idea of a safe path
    daemon = Daemon("munged", ["/usr/sbin/munged", "--foreground", "--force", f"--socket={socket}", f"--key-file={key}",
                               f"--pid-file={folder}/pid", f"--seed-file={folder}/seed", f"--log-file={log}"], log)
    daemon.start()
    daemon.wait_ready(lambda: os.path.exists(socket), 10)
    return daemon, socket

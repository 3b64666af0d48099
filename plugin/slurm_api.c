/* The table of slurm_api.h. */
#include "config.h" /* first: it turns on the GNU extensions */

#include "plugin/slurm_api.h"

#include <dlfcn.h>
#include <string.h>

bool slurm_api_in_slurmctld(void)
{
	return dlsym(RTLD_DEFAULT, "select_nodes") != NULL;
}

/* ISO C has no conversion from void * to a function pointer; POSIX guarantees the representation. */
static bool find(void *scope, const char *name, void *slot)
{
	void *symbol = dlsym(scope, name);

	memcpy(slot, &symbol, sizeof(symbol));
	return symbol != NULL;
}

void slurm_api_find_inner(struct slurm_api *api)
{
	memset(api, 0, sizeof(*api));
	find(RTLD_NEXT, "init", &api->inner_init);
	find(RTLD_NEXT, "fini", &api->inner_fini);
	find(RTLD_NEXT, "select_p_reconfigure", &api->inner_reconfigure);
	find(RTLD_NEXT, "select_p_job_begin", &api->inner_job_begin);
	find(RTLD_NEXT, "select_p_job_fini", &api->inner_job_fini);
	find(RTLD_NEXT, "select_p_job_test", &api->inner_job_test);
	find(RTLD_NEXT, "plugin_version", &api->plugin_version);
}

const char *slurm_api_find_all(struct slurm_api *api)
{
	const struct {
		const char *name;
		void *slot;
	} needed[] = {
		{"slurm_bit_alloc", &api->bit_alloc},
		{"slurm_bit_copy", &api->bit_copy},
		{"slurm_bit_copybits", &api->bit_copybits},
		{"slurm_bit_free", &api->bit_free},
		{"slurm_bit_set", &api->bit_set},
		{"slurm_bit_clear", &api->bit_clear},
		{"slurm_bit_test", &api->bit_test},
		{"slurm_bit_size", &api->bit_size},
		{"slurm_bit_ffs", &api->bit_ffs},
		{"slurm_bit_fls", &api->bit_fls},
		{"bitmap2node_name", &api->bitmap2node_name},
		{"vxstrfmt", &api->vxstrfmt},
		{"slurm_xfree", &api->xfree},
		{"slurm_info", &api->info},
		{"slurm_error", &api->error},
		{"job_common_env_vars", &api->job_common_env_vars},
		{"node_record_count", &api->node_record_count},
	};

	slurm_api_find_inner(api);
	find(RTLD_DEFAULT, "idle_node_bitmap", &api->idle_node_bitmap);
	if (api->inner_job_test == NULL)
		return "select_p_job_test of Slurm's own plugin";
	if (api->inner_reconfigure == NULL || api->inner_job_begin == NULL || api->inner_job_fini == NULL)
		return "select_p_reconfigure, _job_begin or _job_fini of Slurm's own plugin";
	if (api->plugin_version == NULL)
		return "plugin_version of Slurm's own plugin";
	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
		if (!find(RTLD_DEFAULT, needed[i].name, needed[i].slot))
			return needed[i].name;
	return NULL;
}

char *slurm_api_format(const struct slurm_api *api, const char *format, ...)
{
	va_list arguments;
	char *text;

	va_start(arguments, format);
	text = api->vxstrfmt(format, arguments);
	va_end(arguments);
	return text;
}

void slurm_api_free(const struct slurm_api *api, char *text)
{
	void *memory = text;

	api->xfree(&memory);
}

void slurm_api_read_bits(const struct slurm_api *api, bitstr_t *bits, uint8_t *out)
{
	const int64_t first = api->bit_ffs(bits), last = first < 0 ? -1 : api->bit_fls(bits);

	memset(out, 0, (size_t)(api->bit_size(bits) + 7) / 8);
	for (int64_t i = first; i >= 0 && i <= last; i++)
		if (api->bit_test(bits, i))
			out[i / 8] |= (uint8_t)(1u << (i % 8));
}

#include "model/kernels/activation.h"

#include "base/text.h"

#include <string.h>

/* A row for each name that config.json may use; the first row of a function has the name that we
 * write. The order is that of CTranslate2's numbers (enum ActivationType). NULL: the family has no
 * such function, or no second name for it. Marian's gelu is the function that others call
 * quick_gelu. */
static const struct row {
    enum mt_activation activation;
    const char *names[MT_ACTIVATION_NAMES]; /* config.json, Marian, CTranslate2 */
} rows[] = {
    {MT_RELU, {"relu", "relu", "0"}},   {MT_GELU_TANH, {"gelu_new", NULL, "1"}},
    {MT_SILU, {"swish", "swish", "2"}}, {MT_SILU, {"silu", NULL, NULL}},
    {MT_GELU, {"gelu", NULL, "3"}},     {MT_QUICK_GELU, {"quick_gelu", "gelu", "4"}},
};

#define N_ROWS (sizeof rows / sizeof *rows)

const char *mt_activation_name(enum mt_activation activation)
{
    for (size_t i = 0; i < N_ROWS; i++)
        if (rows[i].activation == activation)
            return rows[i].names[MT_NAMED_BY_CONFIG];
    return "unknown";
}

/* Lists "relu, swish or gelu (quick_gelu)": if a family's name differs from config.json's, that
 * follows in brackets. */
static void list_names(enum mt_activation_names names, struct mt_text *out)
{
    size_t n_left = 0;
    for (size_t i = 0; i < N_ROWS; i++)
        n_left += rows[i].names[names] != NULL;
    for (size_t i = 0; i < N_ROWS; i++) {
        const char *name = rows[i].names[names], *usual = rows[i].names[MT_NAMED_BY_CONFIG];
        if (!name)
            continue;
        mt_text_append_string(out, name);
        if (strcmp(name, usual) != 0)
            mt_text_appendf(out, " (%s)", usual);
        n_left--;
        mt_text_append_string(out, n_left > 1 ? ", " : n_left == 1 ? " or " : "");
    }
}

enum mt_status mt_activation_find(enum mt_activation_names names, const char *key, const char *name,
                                  enum mt_activation *out, struct mt_error *err)
{
    for (size_t i = 0; i < N_ROWS; i++)
        if (rows[i].names[names] && strcmp(rows[i].names[names], name) == 0) {
            *out = rows[i].activation;
            return MT_OK;
        }
    struct mt_text list = {0};
    list_names(names, &list);
    enum mt_status status = mt_text_check(&list, "the names of activations", err);
    if (!status)
        status =
            mt_fail(err, MT_UNSUPPORTED, "%s: expected %s, found \"%.60s\"", key, list.bytes, name);
    mt_text_finish(&list);
    return status;
}

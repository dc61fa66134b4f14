#include "server/text/coded.h"
enum mt_status mt_read_html(const char *source, size_t length,
                            const struct mt_coded_options *options, struct mt_coded *out,
                            struct mt_error *err)
{
    return mt_read_plain(source, length, options, out, err);
}

#include "server/text/codes_find.h"
enum mt_status mt_codes_find(struct mt_coded_segment *segment,
                             const struct mt_codes_options *options, struct mt_error *err)
{
    (void)segment;
    (void)options;
    (void)err;
    return MT_OK;
}

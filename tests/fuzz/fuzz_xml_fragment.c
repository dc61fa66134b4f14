/* Feeds XML to its reader: markup.h. */
#include "tests/fuzz/markup.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    check_markup(mt_read_xml, true, data, size);
    return 0;
}

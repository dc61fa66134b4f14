/*
 * Feeds bytes to the reader of translation memories (tmx.h). What it takes is written again and read
 * again, and must be the same then.
 */
#include "base/text.h"
#include "server/documents/tmx.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Units, one behind the other, each of its strings with a NUL; and as a file. */
struct units {
    struct mt_text strings, file;
};

static void check_well_formed(const char *text)
{
    size_t length = strlen(text);
    if (mt_utf8_valid_prefix(text, length) != length)
        abort();
}

static enum mt_status take(void *context, const struct mt_tmx_unit *unit, struct mt_error *err)
{
    struct units *units = context;
    const char *const strings[] = {unit->source, unit->target, unit->context, unit->origin};
    for (size_t i = 0; i < sizeof strings / sizeof *strings; i++) {
        check_well_formed(strings[i]);
        mt_text_append(&units->strings, strings[i], strlen(strings[i]) + 1);
    }
    mt_text_append(&units->strings, (const char *)&unit->changed_ms, sizeof unit->changed_ms);
    struct mt_tmx_unit written = *unit;
    written.source_lang = "en";
    written.target_lang = "de";
    mt_tmx_append(&units->file, &written);
    return MT_OK;
}

static bool read(const char *bytes, size_t length, struct units *units)
{
    struct mt_error err;
    size_t n_left;
    mt_tmx_begin(&units->file, "en");
    enum mt_status status = mt_tmx_read(bytes, length, "", take, units, &n_left, &err);
    mt_tmx_end(&units->file);
    return !status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct units units = {0}, again = {0};
    if (read((const char *)data, size, &units)) {
        if (!read(units.file.bytes, units.file.length, &again))
            abort();
        if (units.strings.length != again.strings.length ||
            (units.strings.length > 0 &&
             memcmp(units.strings.bytes, again.strings.bytes, units.strings.length) != 0))
            abort();
    }
    mt_text_finish(&units.strings);
    mt_text_finish(&units.file);
    mt_text_finish(&again.strings);
    mt_text_finish(&again.file);
    return 0;
}

/*
 * Which scripts a text is written in, and which languages are written in them: what detection has
 * to know of ICU and CLDR. A letter counts as many columns as it is wide, because words of
 * ideographs and syllables are short. A single column is a sign ("π", "Δ", "x") and does not count.
 *
 * Thread-safety: safe.
 */
#ifndef MT_SERVER_TEXT_SCRIPTS_H
#define MT_SERVER_TEXT_SCRIPTS_H

#include "server/text/language.h"

#include <stdbool.h>
#include <stdint.h>

#include <unicode/uscript.h>

struct mt_scripts {
    uint32_t columns[USCRIPT_CODE_LIMIT]; /* of letters, for each script */
    uint32_t n_columns;                   /* all of them */
    UScriptCode most;                     /* the script with most columns */
    uint32_t n_words;                     /* words in one script; "Wi-Fi" is a single one */
};

/* text is well-formed UTF-8, at most 1 GiB. With is_html, tags, entities, scripts and styles do not
 * count. */
void mt_scripts_count(const char *text, size_t length, bool is_html, struct mt_scripts *out);

/* The scripts that a language is usually written in; none where ICU does not know it. Japanese has
 * three. */
#define MT_SCRIPTS_OF_LANGUAGE 8
struct mt_language_scripts {
    UScriptCode items[MT_SCRIPTS_OF_LANGUAGE];
    size_t n;
};
MT_MUST_CHECK enum mt_status
mt_scripts_of_language(const char *language, struct mt_language_scripts *out, struct mt_error *err);

/* Whether the text may be in the language (a normalised code), judged by its letters: at least this
 * part of the columns is in the language's scripts. It is no larger because texts mix scripts: "点击
 * Download Center". True where there are no letters, or ICU does not know the language. MT_MEMORY,
 * like all below. */
#define MT_SCRIPTS_LEAST 0.2
MT_MUST_CHECK enum mt_status mt_scripts_suit(const struct mt_scripts *scripts, const char *language,
                                             bool *out, struct mt_error *err);

/* Writes the language that most texts in the same scripts are in ("ru" for Cyrillic); "" where
 * there are no letters, or ICU knows no such language. */
MT_MUST_CHECK enum mt_status mt_scripts_language(const struct mt_scripts *scripts,
                                                 char out[MT_LANGUAGE_BYTES], struct mt_error *err);

/* *out: how many letters of a text are not in the language's alphabet according to CLDR, whose
 * ideographs are the common ones. 0 where CLDR does not know the language. */
MT_MUST_CHECK enum mt_status mt_scripts_count_foreign(const char *text, size_t length,
                                                      const char *language, size_t *out,
                                                      struct mt_error *err);

/* Whether the script of this letter has no blanks between words: Chinese, Japanese, Thai, ... */
bool mt_script_is_unspaced(uint32_t c);

#endif

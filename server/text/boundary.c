#include "server/text/boundary.h"

#include "base/text.h"
#include "server/text/splitter.h"

#include <string.h>
#include <unicode/uchar.h>

/*
 * Words that end in a full stop without ending a sentence. Titles never end one; references do not
 * where a number follows ("No. 5", but "He said no. 5 people left" has it in lower case). Each word
 * is between blanks, so that one search for " word " decides. CLDR has many more, which are not
 * repeated here.
 */
static const struct {
    const char *language; /* "": all languages */
    const char *titles;
    const char *references;
} abbreviations[] = {
    {"", " Dr Mr Mrs Ms Prof St ", " Art Fig fig Nr No Vol vol p pp S "},
    {"en",
     " Mx Messrs Rev Hon Gen Sen Gov Lt Sgt Cpl Pvt Capt Cmdr Col Maj Adm Mt Ft e.g i.e viz cf "
     "approx vs Co Bros incl excl ",
     " Figs Nos Ch ch Sec sec Eq Eqs Tab Ref Refs App ed Tel tel Ext ext "},
    {"de",
     " Hr Hrn Fr Frl Dipl Ing Hrsg bzw vgl Vgl ca z.B z.b d.h u.a ggf evtl inkl exkl Mio Mrd ",
     " Abb Abs Bd Kap Tab Ziff Bl Anm "},
    {"fr", " MM Mme Mmes Mlle Mlles Me Mgr Ste p.ex ", " art chap fig n num vol "},
    {"es", " Sr Sra Sres Sras Srta Dra Ud Uds Vd Vds Lic Ing Arq p.ej ", " art cap fig núm pág "},
    {"pt", " Sr Sra Srs Sras Srta Dra Exmo Exma Eng Arq p.ex ", " art cap fig núm pág "},
    {"it", " Sig Sigg Sig.ra Sig.na Dott Dott.ssa Prof.ssa Avv Ing Geom Arch Rag ",
     " art cap fig n pag "},
    {"nl", " dr drs ir ing prof mr dhr mevr mw Dhr Mevr Mw bijv d.w.z m.a.w ", " afb blz nr hfst "},
};

/* Languages that write "the 3rd" as "3." */
static const char ordinal_languages[] =
    " de gsw lb da nb nn no is fo fi et lv cs sk sl hr bs sr hu tr pl ";

static bool is_language(const char *language, const char *code, size_t code_length)
{
    if (!language || strncmp(language, code, code_length) != 0)
        return false;
    char next = language[code_length];
    return next == '\0' || next == '-' || next == '_';
}

/* Whether word[0, length) is in a list of words between blanks. */
static bool is_listed(const char *list, const char *word, size_t length)
{
    for (const char *at = list; (at = strchr(at, ' ')) && at[1]; at++)
        if (strncmp(at + 1, word, length) == 0 && at[1 + length] == ' ')
            return true;
    return false;
}

static bool is_abbreviation(const char *word, size_t length, bool before_number,
                            const char *language)
{
    for (size_t i = 0; i < sizeof abbreviations / sizeof *abbreviations; i++) {
        const char *code = abbreviations[i].language;
        if (*code && !is_language(language, code, strlen(code)))
            continue;
        if (is_listed(abbreviations[i].titles, word, length) ||
            (before_number && is_listed(abbreviations[i].references, word, length)))
            return true;
    }
    return false;
}

/* Whether a word is like "3" or "31", but not a year, because years end sentences too often. */
static bool is_ordinal(const char *word, size_t length, const char *language)
{
    if (length < 1 || length > 2 || !language)
        return false;
    for (size_t i = 0; i < length; i++)
        if (word[i] < '0' || word[i] > '9')
            return false;
    return is_listed(ordinal_languages, language, strcspn(language, "-_"));
}

/* Whether a word is like the "J" of "J. Bach". English "I" is not, because it is a pronoun that
 * sentences end with. */
static bool is_initial(const char *word, size_t length)
{
    return length == mt_char_length(word) && u_isupper((UChar32)mt_utf8_decode(word)) &&
           word[0] != 'I';
}

/* Whether a word is like the "U.S" of "the U.S. Army". A sentence may end with it, too: then
 * next[0, n_next), the text behind it, begins with one of the words that most sentences begin
 * with. */
static bool is_in_initials(const char *word, size_t length, const char *next, size_t n_next,
                           const char *language)
{
    static const char openers[] =
        " A After Although An And As At Before Both But By For From He Her Here His How However I "
        "If In It Its Many Most My No Not On One Our She Since So Some That The Their Then There "
        "These They This Those To Until We What When Where While Who Why With Yes You ";
    size_t n = 0;
    if (length < 3 || !is_language(language, "en", 2))
        return false;
    for (size_t i = 0; i < length; i++)
        if (i % 2 ? word[i] != '.' : word[i] < 'A' || word[i] > 'Z')
            return false;
    while (n < n_next && n < sizeof openers && !strchr(" ,'", next[n]))
        n++;
    return !is_listed(openers, next, n);
}

static bool opens(uint32_t c)
{
    int8_t type = u_charType((UChar32)c);
    return type == U_START_PUNCTUATION || type == U_INITIAL_PUNCTUATION || c == '"' || c == '\'';
}

static size_t word_begin(const char *text, size_t end)
{
    size_t begin = end;
    while (begin > 0) {
        size_t before = mt_previous_char(text, begin);
        uint32_t c = mt_utf8_decode(text + before);
        if (mt_is_space(c) || opens(c))
            break;
        begin = before;
    }
    return begin;
}

/* Whether the sentence up to text[end) closes a quotation with ? or !, and next is in lower case:
 * "Really?" she asked. */
static bool speech_continues(const char *text, size_t end, uint32_t next)
{
    if (!u_islower((UChar32)next))
        return false;
    size_t close = mt_previous_char(text, end);
    if (u_getIntPropertyValue((UChar32)mt_utf8_decode(text + close), UCHAR_SENTENCE_BREAK) !=
            U_SB_CLOSE ||
        close == 0)
        return false;
    return u_getIntPropertyValue((UChar32)mt_utf8_decode(text + mt_previous_char(text, close)),
                                 UCHAR_SENTENCE_BREAK) == U_SB_STERM;
}

bool mt_boundary_is_false(const char *text, size_t length, size_t at, const char *language)
{
    size_t end = at;
    while (end > 0 && mt_is_space(mt_utf8_decode(text + mt_previous_char(text, end))))
        end = mt_previous_char(text, end);
    if (end == at || end == 0)
        return false; /* scripts without blanks have no abbreviations */

    uint32_t next = mt_utf8_decode(text + at);
    if (text[end - 1] != '.')
        return speech_continues(text, end, next);

    size_t word_end = end - 1;
    size_t begin = word_begin(text, word_end);
    if (begin == word_end)
        return false;
    const char *word = text + begin;
    size_t word_length = word_end - begin;
    return is_initial(word, word_length) || is_ordinal(word, word_length, language) ||
           is_in_initials(word, word_length, text + at, length - at, language) ||
           is_abbreviation(word, word_length, u_isdigit((UChar32)next) || next == '+', language);
}

extern "C" {
#include "server/text/detect.h"

#include "base/real.h"
#include "base/text.h"
#include "server/text/scripts.h"
}

// CLD2's header needs it, but does not say so.
#include <cstdio>

#include <cld2/public/compact_lang_det.h>
#include <cld2/public/encodings.h>

#include <cmath>
#include <cstring>
#include <new>
#include <string>

#include <unicode/uchar.h>

// Documented in CLD2's header, but defined inside: an answer for short texts too.
static const int best_effort = 0x4000;

// Of a language that is named for its script alone.
static const double script_confidence = 10;

// A language that a part of the text is in; the largest part comes first.
struct part {
    char code[MT_LANGUAGE_BYTES];
    double n_bytes;
    double score; // CLD2's
    double confidence;
};

struct ranking {
    struct part parts[3];
    size_t n;
};

// How often CLD2 is right, 0 to 1, by its score (per KiB of text) and the bytes that it looked at:
// a logistic regression on 1,000 sentences of Tatoeba in each of 17 languages in Latin script
// (scripts that few languages have make it no worse). English has a term of its own because CLD2
// takes for it what it does not know: of its answers "en" with a score that makes others right in 7
// of 10 cases, 8 of 10 are wrong.
static double certainty(const char *code, double score, double n_bytes)
{
    const bool is_english = std::strcmp(code, "en") == 0;
    const double z = -6.75 + 3.35 * score / 1000 + 1.86 * mt_real_log(n_bytes) - 1.77 * is_english;
    return 1 / (1 + mt_real_exp(-z));
}

// CLD2 has codes ("xx-Goth") for scripts of which it knows no language.
static bool name_language(CLD2::Language language, char out[MT_LANGUAGE_BYTES])
{
    const char *code = CLD2::LanguageCode(language);
    const enum mt_status status = mt_language_parse(code, out, nullptr);
    if (status == MT_MEMORY)
        throw std::bad_alloc();
    return !status && std::strncmp(code, "xx", 2) != 0;
}

struct text {
    const char *bytes;
    size_t length;
    bool is_html;
    struct mt_scripts scripts;
};

static void check(enum mt_status status)
{
    if (status)
        throw std::bad_alloc();
}

static bool suits(const struct text *text, const char *code)
{
    bool is_suited = false;
    check(mt_scripts_suit(&text->scripts, code, &is_suited, nullptr));
    return is_suited;
}

// Whether the alphabet of a language fits the text as well as that of another.
static bool fits_as_well(const char *code, const char *other, const struct text *text)
{
    size_t n = 0, n_other = 0;
    check(mt_scripts_count_foreign(text->bytes, text->length, code, &n, nullptr));
    check(mt_scripts_count_foreign(text->bytes, text->length, other, &n_other, nullptr));
    return n <= n_other;
}

// "zh-Hant" is "zh-Hans" where the text has only what both scripts share.
static void shorten(char code[MT_LANGUAGE_BYTES], const struct text *text)
{
    char bare[MT_LANGUAGE_BYTES], usual[MT_LANGUAGE_BYTES];
    const size_t n = std::strcspn(code, "-");
    if (code[n] == '\0')
        return;
    std::memcpy(bare, code, n);
    bare[n] = '\0';
    if (mt_language_normalise(bare, usual) && fits_as_well(usual, code, text))
        std::strcpy(code, usual);
}

// Words of grammar, which sentences are full of, and borrowed words are not among. Those that English
// shares are left out, except in its own list.
static const struct {
    const char *code;
    const char *words; // each between two blanks
} grammars[] = {
    {"en",
     " the a an is are was be to of and in on at by for from with not no this that it you your"
     " my me i we he she they have has do does can will or as if "},
    {"it", " il lo la gli le un una di che non è e per con sono ho del della dei mio tuo tua suo"
           " questo questa si alla "},
    {"es", " el la los las un una de que es y por con mi tu su está del al para se en lo "},
    {"fr", " le la les un une de des du et est pas que mon votre je vous ce pour avec en au nous "},
    {"pt", " o os um uma de que não é e por com meu minha seu sua da dos para está em "},
    {"de", " der das den ist nicht und ein eine ich sie mit dem zu von "},
    {"nl", " het een van niet en ik zijn mijn de dat voor met te "},
};
static const size_t n_grammars = sizeof grammars / sizeof *grammars;
static const size_t longest_grammar_word = 16;

// Calls use(word) with each word in small letters, between two blanks.
template <typename Use> static void each_word(const struct text *text, Use use)
{
    std::string word = " ";
    bool is_tag = false;
    for (size_t at = 0; at <= text->length;) {
        const bool is_end = at == text->length;
        const uint32_t c = is_end ? ' ' : mt_utf8_decode(text->bytes + at);
        is_tag = text->is_html && (c == '<' || (is_tag && c != '>'));
        if (!is_tag && u_isalpha(static_cast<UChar32>(c))) {
            char bytes[4];
            const size_t n =
                mt_utf8_encode(static_cast<uint32_t>(u_tolower(static_cast<UChar32>(c))), bytes);
            if (word.size() < longest_grammar_word)
                word.append(bytes, n);
        } else if (word.size() > 1) {
            use(word.append(" "));
            word = " ";
        }
        at += is_end ? 1 : mt_utf8_length(static_cast<unsigned char>(text->bytes[at]));
    }
}

// The language whose grammar the text has, where that is none of English; otherwise nullptr. A single
// English word makes CLD2 take other sentences for English: "La tua password non è corretta".
static const char *grammar_of(const struct text *text)
{
    size_t n[n_grammars] = {};
    each_word(text, [&n](const std::string &word) {
        for (size_t k = 0; k < n_grammars; k++)
            n[k] += std::strstr(grammars[k].words, word.c_str()) != nullptr;
    });
    size_t best = 1, second = 0;
    for (size_t k = 2; k < n_grammars; k++)
        best = n[k] > n[best] ? k : best;
    for (size_t k = 1; k < n_grammars; k++)
        second = k != best && n[k] > second ? n[k] : second;
    return n[0] == 0 && n[best] > 1 && n[best] > second ? grammars[best].code : nullptr;
}

// Languages that the letters are not for are none: CLD2 takes Cyrillic for Romanian, and with a
// hint anything for Japanese.
// hint: languages as an HTTP header Content-Language names them, or nullptr.
static struct ranking rank(const struct text *text, const char *hint)
{
    const CLD2::CLDHints hints = {hint, nullptr, CLD2::UNKNOWN_ENCODING, CLD2::UNKNOWN_LANGUAGE};
    // CLD2 leaves all of them as they are where the text holds a character that is not for
    // interchange, such as U+0001.
    CLD2::Language languages[] = {CLD2::UNKNOWN_LANGUAGE, CLD2::UNKNOWN_LANGUAGE,
                                  CLD2::UNKNOWN_LANGUAGE};
    double scores[3] = {};
    int percents[3] = {}, n_bytes = 0, n_valid = 0;
    bool is_reliable = false;
    CLD2::ExtDetectLanguageSummaryCheckUTF8(
        text->bytes, static_cast<int>(text->length), !text->is_html, &hints, best_effort, languages,
        percents, scores, nullptr, &n_bytes, &is_reliable, &n_valid);
    struct ranking ranking = {};
    int all = 0; // less than 100 where a text is short
    for (int i = 0; i < 3; i++) {
        struct part &part = ranking.parts[ranking.n];
        if (languages[i] == CLD2::UNKNOWN_LANGUAGE || percents[i] <= 0 ||
            !name_language(languages[i], part.code))
            continue;
        all += percents[i];
        if (!suits(text, part.code))
            continue;
        shorten(part.code, text);
        part.score = scores[i];
        part.n_bytes = std::fmax(1, n_bytes * percents[i] / 100.0);
        part.confidence =
            certainty(part.code, scores[i], part.n_bytes) * percents[i] * (is_reliable ? 1 : 0.5);
        ranking.n++;
    }
    for (size_t i = 0; i < ranking.n; i++)
        ranking.parts[i].confidence *= 100.0 / all;
    return ranking;
}

static bool has_same_language(const char *a, const char *b)
{
    const size_t n = std::strcspn(a, "-");
    return n == std::strcspn(b, "-") && std::memcmp(a, b, n) == 0;
}

// The one that serves the code; else one that differs in script or region alone, which short texts
// leave open.
static const char *find(const struct mt_detect_languages *languages, const char *code)
{
    for (size_t i = 0; i < languages->n; i++)
        if (mt_language_matches(code, languages->codes[i]))
            return languages->codes[i];
    for (size_t i = 0; i < languages->n; i++)
        if (has_same_language(code, languages->codes[i]))
            return languages->codes[i];
    return languages->n == 0 ? code : nullptr;
}

static void set(struct mt_detection *out, const char *code, double confidence, bool is_served)
{
    std::strcpy(out->language, code);
    out->confidence = std::round(std::fmin(100, confidence));
    out->is_served = is_served;
    out->is_certain = confidence >= MT_DETECT_CERTAIN;
}

// The largest of the first n parts that is in one of the languages.
static bool choose(const struct ranking &ranking, size_t n,
                   const struct mt_detect_languages *languages, double weight,
                   struct mt_detection *out)
{
    for (size_t i = 0; i < n && i < ranking.n; i++) {
        const char *found = find(languages, ranking.parts[i].code);
        if (found == nullptr)
            continue;
        set(out, found, ranking.parts[i].confidence * weight, true);
        return true;
    }
    return false;
}

// Those that the text may be in by its letters, as an HTTP header Content-Language names them.
static std::string hint_of(const struct text *text, const struct mt_detect_languages *languages)
{
    std::string hint;
    for (size_t i = 0; i < languages->n; i++)
        if (suits(text, languages->codes[i]))
            hint.append(hint.empty() ? "" : ",").append(languages->codes[i]);
    return hint;
}

static bool is_latin(const struct mt_scripts &scripts)
{
    return scripts.most == USCRIPT_LATIN;
}

// What CLD2 found by itself, unless a short text leaves it open; else what letters that are not Latin
// are most often for.
static struct part best_of(const struct ranking &ranking, const struct text *text)
{
    struct part part = ranking.parts[0];
    char usual[MT_LANGUAGE_BYTES];
    if (ranking.n > 0 && (is_latin(text->scripts) || part.confidence >= MT_DETECT_CERTAIN))
        return part;
    check(mt_scripts_language(&text->scripts, usual, nullptr));
    if (ranking.n == 0)
        part.confidence = script_confidence;
    if (ranking.n == 0 || (usual[0] != '\0' && fits_as_well(usual, part.code, text)))
        std::strcpy(part.code, usual);
    return part;
}

// The first language that the letters may be for.
static const char *first_of(const struct mt_detect_languages *languages, const struct text *text)
{
    for (size_t i = 0; i < languages->n; i++)
        if (suits(text, languages->codes[i]))
            return languages->codes[i];
    return languages->n > 0 ? languages->codes[0] : "en";
}

// Hints only where CLD2 does not find one of the languages by itself: they turn "Hello" into
// German. What is another language in spite of the hint is one, and so is what was certain without
// it and got no better with it. Ideographs are better Japanese with any hint.
static bool choose_hinted(const struct text *text, const std::string &hint,
                          const struct mt_detect_languages *languages, const struct part &other,
                          struct mt_detection *out)
{
    const struct ranking hinted = rank(text, hint.c_str());
    if (hinted.n == 0)
        return false;
    const bool is_better = text->scripts.most != USCRIPT_HAN && hinted.parts[0].score > other.score;
    return (is_better || other.confidence < MT_DETECT_CERTAIN) &&
           fits_as_well(hinted.parts[0].code, other.code, text) &&
           choose(hinted, 1, languages, 0.5 * (1 - other.confidence / 100), out);
}

static void detect(const struct text *text, const struct mt_detect_languages *languages,
                   struct mt_detection *out)
{
    struct ranking free = rank(text, nullptr);
    const bool is_english = free.n > 0 && std::strcmp(free.parts[0].code, "en") == 0;
    const char *grammar = is_english ? grammar_of(text) : nullptr;
    if (grammar != nullptr) {
        std::strcpy(free.parts[0].code, grammar);
        free.parts[0].confidence = MT_DETECT_CERTAIN;
        free.parts[0].score = HUGE_VAL; // no hint makes it better
    }
    out->first = first_of(languages, text);
    out->is_open = languages->has_usual && text->scripts.n_words <= 1;
    set(out, out->first, 0, true);
    if (choose(free, 1, languages, 1, out) || text->scripts.n_columns == 0)
        return;
    const struct part other = best_of(free, text);
    const std::string hint = hint_of(text, languages);
    // Latin letters stand in texts of any language.
    const bool is_foreign = hint.empty() && other.code[0] != '\0' && !is_latin(text->scripts);
    const bool is_long = other.n_bytes >= MT_DETECT_LONG_BYTES ||
                         text->scripts.n_words >= MT_DETECT_LONG_WORDS ||
                         (text->scripts.n_words == 2 && other.confidence >= MT_DETECT_PAIR_CERTAIN);
    const bool is_certain = is_long && other.confidence >= MT_DETECT_CERTAIN;
    if (!is_foreign && (free.n == 0 || choose_hinted(text, hint, languages, other, out) ||
                        (!is_certain && choose(free, 3, languages, 1, out))))
        return;
    set(out, other.code, other.confidence * (is_long || is_foreign ? 1 : 0.5), languages->n == 0);
    out->is_certain = is_certain || is_foreign;
}

extern "C" void mt_detect_prefer(struct mt_detect_languages *languages, size_t n, const char *code)
{
    for (size_t i = 0; i < n; i++) {
        const char *found = languages->codes[i];
        if (std::strcmp(found, code) != 0)
            continue;
        std::memmove(languages->codes + 1, languages->codes, i * sizeof found);
        languages->codes[0] = found;
        languages->has_usual = true;
        return;
    }
}

// Boyer and Moore's vote: each byte of another language takes one away.
extern "C" void mt_detect_page_add(struct mt_detect_page *page,
                                   const struct mt_detection *detection, size_t length)
{
    if (!detection->is_certain || !detection->is_served)
        return;
    if (std::strcmp(detection->language, page->language) == 0) {
        page->n_bytes += length;
    } else if (length > page->n_bytes) {
        std::strcpy(page->language, detection->language);
        page->n_bytes = length - page->n_bytes;
    } else {
        page->n_bytes -= length;
    }
}

extern "C" void mt_detection_decide(struct mt_detection *detection)
{
    if (!detection->is_certain && (!detection->is_served || detection->is_open) &&
        std::strcmp(detection->language, detection->first) != 0)
        set(detection, detection->first, 0, true);
}

extern "C" enum mt_status mt_detect(const char *text, size_t length, bool is_html,
                                    const struct mt_detect_languages *languages,
                                    struct mt_detection *out, struct mt_error *err)
{
    if (length > MT_DETECT_MAX_BYTES) {
        length = MT_DETECT_MAX_BYTES;
        while ((static_cast<unsigned char>(text[length]) & 0xC0u) == 0x80u)
            length--;
    }
    try {
        struct text whole = {text, length, is_html, {}};
        mt_scripts_count(text, length, is_html, &whole.scripts);
        detect(&whole, languages, out);
        const bool is_open_pair =
            whole.scripts.n_words == 2 && out->confidence < MT_DETECT_PAIR_OPEN;
        out->is_open = out->is_open || (languages->has_usual && is_open_pair);
        return MT_OK;
    } catch (const std::exception &) {
        return mt_fail(err, MT_MEMORY, "out of memory detecting the language of %zu bytes", length);
    }
}

#include "server/documents/office/office_notes.h"

#include "base/ascii.h"
#include "server/documents/office/office_names.h"
#include "server/documents/office/office_state.h"
#include "server/text/numbers/number_signs.h"
#include "server/text/tagged_text.h"

#include <string.h>

/* Most letters of a symbol that a note at its end belongs to. */
#define MAX_SYMBOL_BYTES 3

bool mt_office_read_note(const struct mt_office_token *tokens, size_t n, struct mt_office_note *out)
{
    struct mt_raised words = {0};
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < tokens[i].bytes.length;) {
            const char *at = tokens[i].bytes.bytes + k;
            uint32_t c = mt_utf8_decode(at);
            words.blanks += mt_is_space(c);
            words.digits += mt_ascii_is_digit(*at);
            words.letters += !mt_ascii_is_digit(*at) && mt_is_word_char(c);
            words.signs += !mt_is_space(c) && !mt_is_word_char(c);
            k += mt_char_length(at);
        }
    *out = (struct mt_office_note){
        .is_one = true, .n_letters = words.letters, .n_digits = words.digits};
    return mt_is_note_mark(&words) || words.letters + words.digits + words.signs == 0;
}

bool mt_office_is_sign(const struct mt_office_token *tokens, size_t n)
{
    bool has_sign = false;
    for (size_t i = 0; i < n; i++) {
        const struct mt_text *bytes = &tokens[i].bytes;
        if (tokens[i].kind != MT_OFFICE_WORDS || mt_has_word(bytes->bytes, 0, bytes->length))
            return false;
        has_sign = has_sign || strspn(bytes->bytes, " ") < bytes->length;
    }
    return has_sign;
}

bool mt_office_is_ordinal(const struct mt_office_token *before, const struct mt_office_token *token)
{
    size_t n = before->bytes.length;
    return before->kind == MT_OFFICE_WORDS && n > 0 &&
           mt_ascii_is_digit(before->bytes.bytes[n - 1]) && token->kind == MT_OFFICE_WORDS &&
           mt_is_ordinal_ending(token->bytes.bytes, token->bytes.length);
}

/* ---- runs ---- */

/* Whether words of this look are a superscript or subscript. */
static bool is_off_line(const struct mt_office *office, size_t look)
{
    static const char baseline[] = " baseline=\"";
    const char *properties = look > 0 ? office->looks[look].properties.bytes : "";
    const char *align = strstr(properties, "vertAlign"), *shift = strstr(properties, baseline);
    return (align && memmem(align, strcspn(align, ">"), "script", strlen("script"))) ||
           (shift && shift[strlen(baseline)] != '0');
}

/* Whether the words of two tokens are adjacent, in separate runs. */
static bool are_neighbours(const struct mt_office_token *before,
                           const struct mt_office_token *token)
{
    return before->outer.end <= token->outer.begin;
}

/* Makes a note of a superscript or subscript, or gives it the look of the words before it. */
static enum mt_status take_run(const struct mt_document *document, struct mt_office_token *tokens,
                               size_t n, size_t i, struct mt_error *err)
{
    struct mt_office_token *token = &tokens[i], *before = &tokens[i - 1];
    const char *words = token->bytes.bytes;
    struct mt_office_note note;
    if (before->kind != MT_OFFICE_WORDS || before->bytes.length == 0 ||
        before->look == token->look || !are_neighbours(before, token))
        return MT_OK;
    char last = before->bytes.bytes[before->bytes.length - 1];
    if (mt_office_is_ordinal(before, token)) {
        token->look = before->look;
        token->is_link = before->is_link;
        return MT_OK;
    }
    if (last == ' ' || token->is_link || strchr(words, ' ') ||
        (i + 1 < n && !are_neighbours(token, token + 1)) || !mt_office_read_note(token, 1, &note))
        return MT_OK;
    token->kind = MT_OFFICE_POINT;
    token->note = note;
    token->range = token->outer;
    token->run = (struct mt_range){0};
    token->bytes.length = 0;
    mt_document_append(document, token->range, &token->bytes);
    return mt_text_check(&token->bytes, "a paragraph", err);
}

/* ---- symbols ---- */

static size_t count_word_back(const struct mt_text *text)
{
    size_t begin = text->length;
    while (begin > 0) {
        size_t before = mt_previous_char(text->bytes, begin);
        if (!mt_is_word_char(mt_utf8_decode(text->bytes + before)))
            break;
        begin = before;
    }
    return text->length - begin;
}

static size_t count_word(const struct mt_text *text)
{
    size_t end = 0;
    while (end < text->length && mt_is_word_char(mt_utf8_decode(text->bytes + end)))
        end += mt_char_length(text->bytes + end);
    return end;
}

/* Whether a note is part of the word before it: CO2, km2, 106, 3rd. A footnote is not, as in
 * it2. */
static bool belongs(const char *word, size_t n, const struct mt_office_note *note)
{
    size_t n_capitals = 0;
    if (n > MAX_SYMBOL_BYTES)
        return false;
    for (size_t i = 0; i < n; i++) {
        if ((unsigned char)word[i] >= 0x80)
            return false;
        n_capitals += mt_ascii_is_capital(word[i]);
    }
    if (strspn(word, "0123456789") >= n)
        return note->n_letters > 0 || (n == 2 && memcmp(word, "10", 2) == 0);
    return note->n_digits > 0 && (n == 1 || n_capitals == n || strcspn(word, "aeiouyAEIOUY") >= n);
}

/* Returns the length of the last word of the text, including the number before it: 25 m. */
static size_t with_number(const struct mt_text *text, size_t n)
{
    size_t word = text->length - n, begin = word;
    if (word == 0 || text->bytes[word - 1] != ' ' || mt_ascii_is_digit(text->bytes[word]))
        return n;
    begin--;
    while (begin > 0 &&
           (mt_ascii_is_digit(text->bytes[begin - 1]) || strchr(".,", text->bytes[begin - 1])))
        begin--;
    bool is_number =
        mt_ascii_is_digit(text->bytes[begin]) && (begin == 0 || text->bytes[begin - 1] == ' ');
    return is_number ? text->length - begin : n;
}

struct symbol {
    const struct mt_document *document;
    const struct mt_office_paragraph *paragraph;
    struct mt_office_token *token; /* the note, which becomes the whole symbol */
    size_t look;                   /* look of the word before it */
    struct mt_text bytes;
};

/* Moves n bytes of a token's words from `at` on, which are its first or last ones, to the
 * symbol. */
static void move_words(struct symbol *symbol, struct mt_office_token *from, size_t at, size_t n)
{
    const struct mt_office *office = symbol->document->own;
    struct mt_text *words = &from->bytes, escaped = {0};
    mt_text_append_markup(&escaped, words->bytes + at, n);
    const struct mt_office_run run = {.prefix = symbol->paragraph->prefix,
                                      .look = &office->looks[from->look].properties,
                                      .words = escaped.bytes,
                                      .length = escaped.length};
    if (escaped.status)
        symbol->bytes.status = escaped.status;
    else if (office->format)
        mt_text_append(&symbol->bytes, escaped.bytes, escaped.length);
    else
        symbol->paragraph->write_run(&run, &symbol->bytes);
    mt_text_finish(&escaped);
    memmove(words->bytes + at, words->bytes + at + n, words->length - at - n);
    words->length -= n;
    words->bytes[words->length] = '\0';
    if (words->length > 0)
        return;
    from->kind = MT_OFFICE_NOTHING;
    if (from < symbol->token)
        symbol->token->outer.begin = from->outer.begin;
    else
        symbol->token->outer.end = from->outer.end;
}

static void move_note(struct symbol *symbol, struct mt_office_token *note)
{
    if (note->is_verbatim)
        mt_document_append(symbol->document, note->range, &symbol->bytes);
    else
        mt_text_append(&symbol->bytes, note->bytes.bytes, note->bytes.length);
    if (note == symbol->token)
        return;
    note->kind = MT_OFFICE_NOTHING;
    symbol->token->outer.end = note->outer.end;
}

/* Returns the length of the word that continues behind a note; 0: it does not. */
static size_t goes_on(const struct symbol *symbol, const struct mt_office_token *note, size_t n)
{
    const struct mt_office *office = symbol->document->own;
    const struct mt_office_token *behind = note + 1;
    bool is_one = n > 0 && behind->kind == MT_OFFICE_WORDS && are_neighbours(note, behind) &&
                  (!office->format || behind->look == symbol->look);
    return is_one ? count_word(&behind->bytes) : 0;
}

/* Joins a note at tokens[i] and the symbol that it belongs to. */
static enum mt_status take_symbol(const struct mt_document *document,
                                  const struct mt_office_paragraph *paragraph, size_t i,
                                  struct mt_error *err)
{
    struct mt_office_token *note = &paragraph->tokens[i], *before = note - 1;
    struct symbol symbol = {
        .document = document, .paragraph = paragraph, .token = note, .look = before->look};
    if (before->kind != MT_OFFICE_WORDS || !are_neighbours(before, note))
        return MT_OK;
    size_t n = count_word_back(&before->bytes), left = paragraph->n - i - 1;
    size_t n_behind = goes_on(&symbol, note, left);
    if (n == 0 ||
        (n_behind == 0 && !belongs(before->bytes.bytes + before->bytes.length - n, n, &note->note)))
        return MT_OK;
    if (n_behind == 0)
        n = with_number(&before->bytes, n);
    bool is_number = mt_ascii_is_digit(before->bytes.bytes[before->bytes.length - n]);
    move_words(&symbol, before, before->bytes.length - n, n);
    move_note(&symbol, note);
    for (struct mt_office_token *last = note; n_behind > 0;) {
        struct mt_office_token *behind = last + 1;
        move_words(&symbol, behind, 0, n_behind);
        left -= 1;
        if (behind->kind != MT_OFFICE_NOTHING || left == 0 || !behind[1].note.is_one ||
            !are_neighbours(behind, behind + 1))
            break;
        last = behind + 1;
        move_note(&symbol, last);
        n_behind = goes_on(&symbol, last, --left);
    }
    mt_text_finish(&note->bytes);
    note->bytes = symbol.bytes;
    note->is_verbatim = false;
    note->range = note->outer;
    note->look = symbol.look;
    note->form = is_number ? 'n' : 'w';
    note->note.is_word = true;
    return mt_text_check(&note->bytes, "a paragraph", err);
}

enum mt_status mt_office_attach_notes(const struct mt_document *document,
                                      const struct mt_office_paragraph *paragraph,
                                      struct mt_error *err)
{
    const struct mt_office *office = document->own;
    struct mt_office_token *tokens = paragraph->tokens;
    enum mt_status status = MT_OK;
    for (size_t i = 1; i < paragraph->n && !office->format && !status; i++)
        if (tokens[i].kind == MT_OFFICE_WORDS && tokens[i].bytes.length > 0 &&
            tokens[i].run.end > 0 && is_off_line(office, tokens[i].look))
            status = take_run(document, tokens, paragraph->n, i, err);
    for (size_t i = 1; i < paragraph->n && !status; i++)
        if (tokens[i].kind == MT_OFFICE_POINT && tokens[i].note.is_one)
            status = take_symbol(document, paragraph, i, err);
    return status;
}

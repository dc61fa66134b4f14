#include "server/documents/markdown/front_matter.h"

#include "server/documents/yaml_messages.h"

#include <string.h>
#include <strings.h>

/* The keys of Jekyll, Hugo, Docusaurus, VitePress, Astro and GitHub's templates whose values a
 * reader sees. A page's address, its layout and its tags come from others. */
static bool is_wanted(const char *key)
{
    static const char *const keys[] = {
        "title",
        "linkTitle",
        "short_title",
        "subtitle",
        "description",
        "summary",
        "excerpt",
        "abstract",
        "tagline",
        "lead",
        "intro",
        "caption",
        "alt",
        "heading",
        "subheading",
        "about",
        "sidebar_label",
        "pagination_label",
        "sidebarTitle",
        "navTitle",
        "nav_title",
        "metaTitle",
        "metaDescription",
        "seo_title",
        "meta_title",
        "meta_description",
        "image_alt",
        "imageAlt",
        "text",
        "details",
    };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcasecmp(key, keys[i]) == 0)
            return true;
    return false;
}

/* Finds what is between the two lines, and returns where the second ends; 0: there are none. */
static size_t find(const struct mt_document *document, const char *mark, struct mt_range *inner)
{
    struct mt_document_line line = {.next = document->begin};
    while (mt_document_next_line(document, &line)) {
        size_t end = line.end;
        while (end > line.begin && strchr(" \t", document->bytes[end - 1]))
            end--;
        bool is_mark = end - line.begin == strlen(mark) &&
                       memcmp(document->bytes + line.begin, mark, strlen(mark)) == 0;
        if (line.number == 1 && !is_mark)
            return 0;
        if (line.number == 1)
            inner->begin = line.next;
        else if (is_mark) {
            inner->end = line.begin;
            return line.next;
        }
    }
    return 0;
}

static void drop_pieces(struct mt_document *document, size_t n)
{
    while (document->n > n)
        mt_text_finish(&document->pieces[--document->n].text);
}

enum mt_status mt_front_matter_read(struct mt_document *document, size_t *end, struct mt_error *err)
{
    struct mt_range inner = {0};
    size_t n = document->n, behind = find(document, "---", &inner);
    enum mt_status status = MT_OK;
    if (behind > 0)
        status = mt_yaml_messages_read(document, inner, is_wanted, err);
    else
        behind = find(document, "+++", &inner);
    if (status == MT_FORMAT) {
        drop_pieces(document, n);
        status = MT_OK;
    }
    *end = behind > 0 ? behind : document->begin;
    return status;
}

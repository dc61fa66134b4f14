#include "server/inspection/glyphs.h"

#include "base/text.h"

#include <stdlib.h>

#include <ft2build.h>
#include FT_FREETYPE_H
#include FT_MODULE_H

/* Paths in Debian. The first font covers Latin, Greek, Cyrillic, Hebrew, Arabic, Armenian and
 * Georgian; the others add East Asian scripts where they are installed. */
static const char *const font_paths[] = {
    "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf",
    "/usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc",
    "/usr/share/fonts/truetype/wqy/wqy-microhei.ttc",
    "/usr/share/fonts/opentype/unifont/unifont.otf",
};
#define N_FONTS (sizeof font_paths / sizeof *font_paths)

struct mt_glyphs {
    struct FT_MemoryRec_ memory;
    FT_Library library;
    FT_Face faces[N_FONTS];
    size_t n_faces;
    bool has_run_out;
};

/* Notes that memory has run out. FreeType does not report this where it continues without
 * something, such as a module or a font's hints. */
static void *watch(FT_Memory memory, void *block)
{
    struct mt_glyphs *glyphs = memory->user;
    if (!block)
        glyphs->has_run_out = true;
    return block;
}

static void *allocate(FT_Memory memory, long n_bytes)
{
    return watch(memory, malloc((size_t)n_bytes));
}

static void *reallocate(FT_Memory memory, long n_old, long n_bytes, void *block)
{
    (void)n_old;
    return watch(memory, realloc(block, (size_t)n_bytes));
}

static void release(FT_Memory memory, void *block)
{
    (void)memory;
    free(block);
}

static void open_faces(struct mt_glyphs *glyphs, int font_pixels)
{
    for (size_t i = 0; i < N_FONTS; i++) {
        FT_Face face;
        if (FT_New_Face(glyphs->library, font_paths[i], 0, &face))
            continue;
        if (FT_Set_Pixel_Sizes(face, 0, (FT_UInt)font_pixels))
            FT_Done_Face(face);
        else
            glyphs->faces[glyphs->n_faces++] = face;
    }
}

enum mt_status mt_glyphs_create(int font_pixels, struct mt_glyphs **out, struct mt_error *err)
{
    struct mt_glyphs *glyphs = calloc(1, sizeof *glyphs);
    if (!glyphs)
        return mt_fail_memory(err, sizeof *glyphs, "fonts");
    glyphs->memory = (struct FT_MemoryRec_){
        .user = glyphs, .alloc = allocate, .free = release, .realloc = reallocate};
    enum mt_status status = MT_OK;
    if (!FT_New_Library(&glyphs->memory, &glyphs->library)) {
        FT_Add_Default_Modules(glyphs->library);
        open_faces(glyphs, font_pixels);
    }
    if (glyphs->has_run_out)
        status = mt_fail_memory(err, 0, "FreeType and its fonts");
    else if (!glyphs->n_faces)
        status = mt_fail(err, MT_UNSUPPORTED,
                         "png: no font for the labels: expected %s (Debian: fonts-dejavu-core); "
                         "svg needs none",
                         font_paths[0]);
    if (status) {
        mt_glyphs_destroy(glyphs);
        return status;
    }
    *out = glyphs;
    return MT_OK;
}

void mt_glyphs_destroy(struct mt_glyphs *glyphs)
{
    if (!glyphs)
        return;
    for (size_t i = 0; i < glyphs->n_faces; i++)
        FT_Done_Face(glyphs->faces[i]);
    FT_Done_Library(glyphs->library);
    free(glyphs);
}

/* Finds the first font that has the letter, or else the first font, whose letter 0 is a box. */
static FT_Face find_face(const struct mt_glyphs *glyphs, uint32_t character, FT_UInt *index)
{
    for (size_t i = 0; i < glyphs->n_faces; i++) {
        *index = FT_Get_Char_Index(glyphs->faces[i], character);
        if (*index)
            return glyphs->faces[i];
    }
    return glyphs->faces[0];
}

/* Letters are hinted by FreeType's own rules, which keep widths, instead of the font's program:
 * FreeType 2.13 follows a null pointer if there is no memory for running that. */
#define HINTING FT_LOAD_TARGET_LIGHT

bool mt_glyphs_have_run_out(const struct mt_glyphs *glyphs)
{
    return glyphs->has_run_out;
}

int mt_glyphs_width(struct mt_glyphs *glyphs, const char *text)
{
    FT_Pos width = 0;
    for (const char *at = text; *at; at += mt_utf8_length((unsigned char)*at)) {
        FT_UInt index;
        FT_Face face = find_face(glyphs, mt_utf8_decode(at), &index);
        FT_Set_Transform(face, NULL, NULL);
        if (!FT_Load_Glyph(face, index, HINTING))
            width += face->glyph->advance.x;
    }
    return (int)((width + 63) >> 6);
}

void mt_glyphs_draw(struct mt_glyphs *glyphs, int x, int y, bool is_tilted, const char *text,
                    mt_glyph_dots *dots, void *context)
{
    /* cos 45 degrees in 16.16 fixed point */
    const FT_Fixed c = 46341;
    FT_Matrix tilt = {.xx = c, .xy = -c, .yx = c, .yy = c};
    FT_Vector pen = {0, 0}; /* 26.6 fixed point, y upwards */
    for (const char *at = text; *at; at += mt_utf8_length((unsigned char)*at)) {
        FT_UInt index;
        FT_Face face = find_face(glyphs, mt_utf8_decode(at), &index);
        FT_Set_Transform(face, is_tilted ? &tilt : NULL, NULL);
        FT_Int32 flags = FT_LOAD_RENDER | (is_tilted ? FT_LOAD_NO_HINTING : HINTING);
        if (FT_Load_Glyph(face, index, flags))
            continue;
        const FT_GlyphSlot slot = face->glyph;
        if (slot->bitmap.pixel_mode == FT_PIXEL_MODE_GRAY)
            dots(context, x + (int)(pen.x >> 6) + slot->bitmap_left,
                 y - (int)(pen.y >> 6) - slot->bitmap_top, (int)slot->bitmap.width,
                 (int)slot->bitmap.rows, slot->bitmap.buffer, slot->bitmap.pitch);
        pen.x += slot->advance.x;
        pen.y += slot->advance.y;
    }
}

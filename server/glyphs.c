#include "server/glyphs.h"

#include "base/text.h"

#include <stdlib.h>

#include <ft2build.h>
#include FT_FREETYPE_H
#include FT_MODULE_H

/* Debian's places. The first covers Latin, Greek, Cyrillic, Hebrew, Arabic, Armenian and Georgian;
 * the others add East Asian scripts where they are installed. */
static const char *const font_paths[] = {
    "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf",
    "/usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc",
    "/usr/share/fonts/truetype/wqy/wqy-microhei.ttc",
    "/usr/share/fonts/opentype/unifont/unifont.otf",
};
#define N_FONTS (sizeof font_paths / sizeof *font_paths)

struct mt_glyphs {
    FT_Library library;
    FT_Face faces[N_FONTS];
    size_t n_faces;
    bool has_run_out;
};

/* FT_Init_FreeType leaves out, and does not tell, a module that it has no memory for. */
static bool has_modules(FT_Library library)
{
    static const char *const needed[] = {"sfnt", "truetype", "cff", "smooth", "autofitter"};
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (!FT_Get_Module(library, needed[i]))
            return false;
    return true;
}

/* A font that there is no memory for would be one with other letters. */
static enum mt_status open_faces(struct mt_glyphs *glyphs, int font_pixels, struct mt_error *err)
{
    for (size_t i = 0; i < N_FONTS; i++) {
        FT_Face face;
        FT_Error error = FT_New_Face(glyphs->library, font_paths[i], 0, &face);
        if (!error) {
            error = FT_Set_Pixel_Sizes(face, 0, (FT_UInt)font_pixels);
            if (error)
                FT_Done_Face(face);
            else
                glyphs->faces[glyphs->n_faces++] = face;
        }
        if (error == FT_Err_Out_Of_Memory)
            return mt_fail_memory(err, 0, font_paths[i]);
    }
    return MT_OK;
}

enum mt_status mt_glyphs_create(int font_pixels, struct mt_glyphs **out, struct mt_error *err)
{
    struct mt_glyphs *glyphs = calloc(1, sizeof *glyphs);
    if (!glyphs)
        return mt_fail_memory(err, sizeof *glyphs, "fonts");
    if (FT_Init_FreeType(&glyphs->library)) {
        free(glyphs);
        return mt_fail_memory(err, 0, "FreeType");
    }
    enum mt_status status = has_modules(glyphs->library)
                                ? open_faces(glyphs, font_pixels, err)
                                : mt_fail_memory(err, 0, "FreeType's modules");
    if (!status && !glyphs->n_faces)
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
    FT_Done_FreeType(glyphs->library);
    free(glyphs);
}

/* The first font that has the letter; else the first font, whose letter 0 is a box. */
static FT_Face find_face(const struct mt_glyphs *glyphs, uint32_t character, FT_UInt *index)
{
    for (size_t i = 0; i < glyphs->n_faces; i++) {
        *index = FT_Get_Char_Index(glyphs->faces[i], character);
        if (*index)
            return glyphs->faces[i];
    }
    return glyphs->faces[0];
}

/* Hinted by FreeType's own rules, which keep widths, not by the font's program: where there is no
 * memory to run that, 2.13 does not fail but goes on without. */
#define HINTING FT_LOAD_TARGET_LIGHT

static bool load_glyph(struct mt_glyphs *glyphs, FT_Face face, FT_UInt index, FT_Int32 flags)
{
    FT_Error error = FT_Load_Glyph(face, index, flags);
    if (error == FT_Err_Out_Of_Memory)
        glyphs->has_run_out = true;
    return !error;
}

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
        if (load_glyph(glyphs, face, index, HINTING))
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
        if (!load_glyph(glyphs, face, index, flags))
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

// Colour ramps in OKLCH, whose lightness is perceptual: one hue whose lightness alone grows with the
// weight, so that it reads the same without colour vision.

const STEPS = 256;

function gammaEncoded(x) {
    return x <= 0.0031308 ? 12.92 * x : 1.055 * x ** (1 / 2.4) - 0.055;
}

// Björn Ottosson's OKLab to linear sRGB.
function linearRgb(lightness, chroma, hue) {
    const a = chroma * Math.cos((hue * Math.PI) / 180);
    const b = chroma * Math.sin((hue * Math.PI) / 180);
    const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
    const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
    const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
    return [
        4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
        -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
        -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
    ];
}

// The most chroma that a screen has, so that neither lightness nor hue bends.
function rgb(lightness, chroma, hue) {
    let colour;
    for (let c = chroma; ; c -= 0.005) {
        colour = linearRgb(lightness, Math.max(0, c), hue);
        if (c <= 0 || colour.every((x) => x > -1e-4 && x < 1 + 1e-4))
            break;
    }
    return colour.map((x) => Math.round(255 * gammaEncoded(Math.min(1, Math.max(0, x)))));
}

function ramp(from, to) {
    return Array.from({length: STEPS}, (_, i) => {
        const t = i / (STEPS - 1);
        const between = from.map((x, axis) => x + (to[axis] - x) * t);
        return rgb(between[0], between[1] + 0.04 * Math.sin(Math.PI * t), between[2]);
    });
}

// [lightness, chroma, hue] of nothing, and of everything.
const RAMPS = {
    light: {weights: ramp([0.985, 0.004, 255], [0.4, 0.13, 255]), plus: ramp([0.97, 0.004, 255], [0.45, 0.13, 255]), minus: ramp([0.97, 0.004, 50], [0.55, 0.14, 50])},
    dark: {weights: ramp([0.25, 0.012, 255], [0.9, 0.08, 255]), plus: ramp([0.25, 0.012, 255], [0.85, 0.1, 255]), minus: ramp([0.25, 0.012, 50], [0.82, 0.11, 60])},
};

export const isDark = () => document.documentElement.dataset.theme === "dark";
const current = () => RAMPS[isDark() ? "dark" : "light"];

// Weights are shares of 1 and most are small; the root spreads them without reordering any.
const spread = (weight) => Math.sqrt(Math.min(1, Math.max(0, weight)));
const step = (x) => Math.round(x * (STEPS - 1));

const asCss = ([r, g, b]) => `rgb(${r} ${g} ${b})`;

export const weightColour = (weight) => asCss(current().weights[step(spread(weight))]);

/** CSS colours for weights 0 to 1 in equal steps of the spread weight: for drawing many cells. */
export function weightPalette() {
    const css = current().weights.map(asCss);
    return (weight) => css[step(spread(weight))];
}

/** One of n colours that are told apart, and from the paper. */
export function headColour(i, n) {
    const [lightness, chroma] = isDark() ? [0.8, 0.13] : [0.52, 0.17];
    return asCss(rgb(lightness + (i % 2 ? 0.06 : -0.04), chroma, 255 + (360 * i) / n));
}

const linear = (x) => (x <= 10 ? x / 255 / 12.92 : ((x / 255 + 0.055) / 1.055) ** 2.4);
// Relative luminance at which black and white stand out equally (WCAG 2): sqrt(0.05 * 1.05) - 0.05.
const MIDDLE = 0.179;

/** Text that is readable on weightColour(weight). */
export const inkOn = (weight) => inkOnColour(current().weights[step(spread(weight))]);

function inkOnColour([r, g, b]) {
    return 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b) > MIDDLE ? "#000000" : "#ffffff";
}

function image(n, width, colourAt) {
    const data = new ImageData(width, n / width);
    for (let i = 0; i < n; i++) {
        const [r, g, b] = colourAt(i);
        data.data.set([r, g, b, 255], 4 * i);
    }
    return data;
}

/** Weights [rows, columns] as an image of a pixel each. */
export function weightImage(values, columns) {
    const colours = current().weights;
    return image(values.length, columns, (i) => colours[step(spread(values[i]))]);
}

const signed = ({plus, minus}, value) => (value < 0 ? minus : plus)[step(Math.min(1, Math.abs(value)))];

/** Blue above 0, orange below; values from -1 to 1. */
export const signedColour = (value) => asCss(signed(current(), value));

/** The same, and what is readable on it: {background, color}. */
export const signedCell = (value) => ({background: signedColour(value), color: inkOnColour(signed(current(), value))});

/** Values from -1 to 1 as an image likewise. */
export function signedImage(values, columns) {
    const ramps = current();
    return image(values.length, columns, (i) => signed(ramps, values[i]));
}

// Schemas and prose of openapi.json as elements.

import {element} from "./dom.js";
import {parts, t} from "./text_docs.js";

const REFERENCE = /^#\/components\/(\w+)\/(.+)$/;

/** The little of CommonMark that the description uses: paragraphs, `code` and **weight**. */
function inline(text) {
    return text.split(/(`[^`]+`|\*\*[^*]+\*\*)/).map((part) => {
        if (part.startsWith("`"))
            return element("code", {translate: false}, part.slice(1, -1));
        return part.startsWith("**") ? element("strong", {}, part.slice(2, -2)) : part;
    });
}

/** Words of the description. */
export const english = (tag, ...children) => element(tag, {lang: "en"}, ...children);

export const prose = (text) => english("div.prose", ...text.split("\n\n").map((paragraph) => element("p", {}, ...inline(paragraph))));

const CONSTRAINTS = {
    minimum: (n) => t`at least ${n}`,
    maximum: (n) => t`at most ${n}`,
    minLength: (n) => t`characters, at least ${n}`,
    maxLength: (n) => t`characters, at most ${n}`,
    minItems: (n) => t`items, at least ${n}`,
    maxItems: (n) => t`items, at most ${n}`,
    default: (value) => t`default ${JSON.stringify(value)}`,
};
const PLACES = {header: t`header`, path: t`in the path`, query: t`in the query`};

function constraints(schema) {
    return Object.entries(CONSTRAINTS).filter(([key]) => key in schema).map(([key, words]) => words(schema[key]));
}

export class Description {
    constructor(spec) {
        this.spec = spec;
    }

    /** What a reference stands for; anything else is itself. */
    resolve(thing) {
        const [, kind, name] = REFERENCE.exec(thing.$ref ?? "") ?? [];
        return name ? this.spec.components[kind][name] : thing;
    }

    /** The type in words: "array of Language". */
    type(schema) {
        if (schema.$ref) {
            const name = REFERENCE.exec(schema.$ref)[2];
            return [element("a", {href: `#schema-${name}`, translate: false}, name)];
        }
        const choices = schema.oneOf ?? schema.anyOf;
        if (choices)
            return choices.flatMap((choice, i) => [...(i ? [t` or `] : []), ...this.type(choice)]);
        if ("const" in schema)
            return [element("code", {translate: false}, JSON.stringify(schema.const))];
        if (schema.enum)
            return schema.enum.flatMap((value, i) => [...(i ? [" | "] : []), element("code", {translate: false}, JSON.stringify(value))]);
        const types = [schema.type ?? "anything"].flat();
        const nameOf = (type) => element("span", {translate: false}, type);
        return types.flatMap((type, i) => [...(i ? [t` or `] : []), ...(type === "array" && schema.items ? parts`array of ${this.type(schema.items)}` : [type === "anything" ? t`anything` : nameOf(type)])]);
    }

    /** A list entry for a member or a parameter. place: where a parameter stands. */
    field(name, schema, isRequired, place) {
        const notes = [...(place ? [PLACES[place]] : []), ...constraints(schema)];
        return element(
            "li",
            {},
            element("code.field-name", {translate: false}, name),
            element("span.field-type", {}, ...this.type(schema)),
            ...(isRequired ? [element("span.needed", {}, t`required`)] : []),
            ...(notes.length ? [element("span.field-note", {}, notes.join(t`; `))] : []),
            ...(schema.description ? [english("p", ...inline(schema.description))] : []),
            ...this.members(schema),
        );
    }

    /** The members of an object, or of the objects in an array, that has no name of its own. */
    members(schema) {
        const inner = schema.items && !schema.items.$ref ? schema.items : schema;
        if (!inner.properties || inner.$ref)
            return [];
        const items = Object.entries(inner.properties).map(([name, member]) => this.field(name, member, inner.required?.includes(name)));
        return [element("ul.fields", {}, ...items)];
    }

    /** A whole schema. isTop: below its own name, so that it is shown and not only named. */
    view(schema, {isTop = false} = {}) {
        const notes = constraints(schema);
        const type = schema.properties && !schema.$ref ? [] : [element("p.hint", {}, ...this.type(schema), ...(notes.length ? [` (${notes.join(t`; `)})`] : []))];
        const description = isTop && schema.description ? [prose(schema.description)] : [];
        return element("div", {}, ...description, ...type, ...this.members(schema));
    }
}

// Schemas and prose of openapi.json as elements.

import {element} from "./dom.js";

const REFERENCE = /^#\/components\/(\w+)\/(.+)$/;

/** The little of CommonMark that the description uses: paragraphs, `code` and **weight**. */
function inline(text) {
    return text.split(/(`[^`]+`|\*\*[^*]+\*\*)/).map((part) => {
        if (part.startsWith("`"))
            return element("code", {}, part.slice(1, -1));
        return part.startsWith("**") ? element("strong", {}, part.slice(2, -2)) : part;
    });
}

export const prose = (text) => element("div.prose", {}, ...text.split("\n\n").map((paragraph) => element("p", {}, ...inline(paragraph))));

const CONSTRAINTS = {minimum: "at least", maximum: "at most", minLength: "characters, at least", maxLength: "characters, at most", minItems: "items, at least", maxItems: "items, at most"};

function constraints(schema) {
    const notes = Object.entries(CONSTRAINTS).filter(([key]) => key in schema).map(([key, words]) => `${words} ${schema[key]}`);
    if ("default" in schema)
        notes.push(`default ${JSON.stringify(schema.default)}`);
    return notes;
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
            return [element("a", {href: `#schema-${name}`}, name)];
        }
        const choices = schema.oneOf ?? schema.anyOf;
        if (choices)
            return choices.flatMap((choice, i) => [...(i ? [" or "] : []), ...this.type(choice)]);
        if ("const" in schema)
            return [JSON.stringify(schema.const)];
        if (schema.enum)
            return schema.enum.flatMap((value, i) => [...(i ? [" | "] : []), element("code", {}, JSON.stringify(value))]);
        const types = [schema.type ?? "anything"].flat();
        return types.flatMap((type, i) => [...(i ? [" or "] : []), ...(type === "array" && schema.items ? ["array of ", ...this.type(schema.items)] : [type])]);
    }

    /** A list entry for a member or a parameter. place: where a parameter stands. */
    field(name, schema, isRequired, place) {
        const notes = [...(place ? [place] : []), ...constraints(schema)];
        return element(
            "li",
            {},
            element("code.field-name", {}, name),
            element("span.field-type", {}, ...this.type(schema)),
            ...(isRequired ? [element("span.needed", {}, "required")] : []),
            ...(notes.length ? [element("span.field-note", {}, notes.join("; "))] : []),
            ...(schema.description ? [element("p", {}, ...inline(schema.description))] : []),
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
        const type = schema.properties && !schema.$ref ? [] : [element("p.hint", {}, ...this.type(schema), ...(notes.length ? [` (${notes.join("; ")})`] : []))];
        const description = isTop && schema.description ? [prose(schema.description)] : [];
        return element("div", {}, ...description, ...type, ...this.members(schema));
    }
}

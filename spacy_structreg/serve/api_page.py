"""The OpenAPI document as a plain page, which loads nothing from anywhere."""

from __future__ import annotations

import json
from collections.abc import Iterator
from html import escape
from typing import Any, Final

PAGE: Final = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{title}</title>
<link rel="icon" href="/page/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/page/palette.css">
<link rel="stylesheet" href="/page/docs.css">
<script src="/page/theme.js"></script>
</head>
<body>
<h1>{title}</h1>
<p>{about} <a href="/openapi.json">OpenAPI document</a>, <a href="/">page</a>.</p>
{content}
</body>
</html>
"""


def api_page(document: dict[str, Any]) -> str:
    """A page of HTML for an OpenAPI document of FastAPI."""
    info = document["info"]
    content = "\n".join([*_routes(document), *_schemas(document)])
    return PAGE.format(
        title=escape(f"{info['title']} {info['version']}"),
        about=escape(info["description"]),
        content=content,
    )


def _routes(document: dict[str, Any]) -> Iterator[str]:
    for path, methods in document["paths"].items():
        for method, route in methods.items():
            title = f"<code>{method.upper()} {escape(path)}</code> {escape(route['summary'])}"
            yield f"<h2>{title}</h2>"
            yield f"<p>{escape(route.get('description', ''))}</p>"
            parameters = [
                [each["name"], each["in"], _type(each["schema"]), each.get("description", "")]
                for each in route.get("parameters", ())
            ]
            if parameters:
                yield _table(("parameter", "in", "type", "about"), parameters)
            if "requestBody" in route:
                content = route["requestBody"]["content"]["application/json"]
                yield f"<p>Body: {_type(content['schema'])}</p>"
                yield from _examples(document, content["schema"])
            answers = [
                [
                    status,
                    ", ".join(map(_of_content, answer.get("content", {}).items())),
                    escape(answer["description"]),
                ]
                for status, answer in route["responses"].items()
            ]
            yield _table(("status", "answer", "about"), answers)


def _of_content(item: tuple[str, dict[str, Any]]) -> str:
    kind, content = item
    schema = content.get("schema")
    return f"{escape(kind)}{f' {_type(schema)}' if schema else ''}"


def _examples(document: dict[str, Any], schema: dict[str, Any]) -> Iterator[str]:
    named = document["components"]["schemas"].get(schema.get("$ref", "").rpartition("/")[2], schema)
    for example in named.get("examples", ()):
        yield f"<pre>{escape(json.dumps(example, ensure_ascii=False, indent=2))}</pre>"


def _schemas(document: dict[str, Any]) -> Iterator[str]:
    for name, schema in document["components"]["schemas"].items():
        if "properties" not in schema:
            continue
        yield f'<h3 id="{escape(name)}">{escape(name)}</h3>'
        yield f"<p>{escape(schema.get('description', ''))}</p>"
        needed = schema.get("required", ())
        rows = [
            [
                f"<code>{escape(field)}</code>",
                _type(content),
                "yes" if field in needed else "",
                escape(content.get("description", "")),
            ]
            for field, content in schema["properties"].items()
        ]
        yield _table(("field", "type", "always", "about"), rows)


def _type(schema: dict[str, Any]) -> str:
    """The type of a schema, in a word or two."""
    if "$ref" in schema:
        name = escape(schema["$ref"].rpartition("/")[2])
        return f'<a href="#{name}">{name}</a>'
    if "anyOf" in schema:
        return " or ".join(map(_type, schema["anyOf"]))
    values = schema.get("enum", [schema["const"]] if "const" in schema else ())
    if values:
        return ", ".join(f"<code>{escape(json.dumps(each))}</code>" for each in values)
    kind = schema.get("type", "anything")
    if kind == "array":
        return f"list of {_type(schema.get('items', {}))}"
    if kind == "object" and "additionalProperties" in schema:
        return f"names with {_type(schema['additionalProperties'])}"
    return escape(kind)


def _table(header: tuple[str, ...], rows: list[list[str]]) -> str:
    head = "".join(f"<th>{each}</th>" for each in header)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

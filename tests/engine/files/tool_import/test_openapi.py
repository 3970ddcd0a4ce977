"""OpenAPI documents: each operation becomes a tool, and what is left out is named."""

from __future__ import annotations

import contextlib
import copy
import json
from typing import Any

from playground.domain.tools import check_schema
from playground.engine.files.tool_import import import_tools
from playground.engine.io.yaml_text import read_yaml
from playground.jsonkit.limits import TooCostlyError
from playground.jsonkit.schema_sample import sample
from playground.jsonkit.validation import check_value
from tests.support.each_case import each_case

SHOP: Any = read_yaml("""
openapi: 3.0.3
info: {title: Shop, version: '1'}
paths:
  /items/{id}:
    parameters:
      - {name: id, in: path, required: true, schema: {type: integer}, description: Which}
      - {name: lang, in: query, schema: {type: string}}
    get:
      operationId: items.get
      summary: Get an item
      description: With all its parts.
      parameters:
        - {$ref: '#/components/parameters/Limit'}
        - {name: lang, in: query, schema: {type: string, enum: [en, pt]}, example: en}
        - {name: Authorization, in: header, schema: {type: string}}
        - {name: X-Trace, in: header, schema: {type: string}}
        - {name: session, in: cookie, schema: {type: string}}
    put:
      deprecated: true
      requestBody:
        required: true
        content: {application/json: {schema: {$ref: '#/components/schemas/Item'}}}
  /items:
    post:
      operationId: add
      summary: Add items
      requestBody:
        description: All of them
        content: {application/json: {schema: {type: array, items: {$ref: '#/components/schemas/Item'}}}}
components:
  parameters:
    Limit: {name: limit, in: query, schema: {type: integer, minimum: 0, exclusiveMinimum: true}}
  schemas:
    Item:
      type: object
      required: [name]
      properties:
        name: {type: string, example: Chair}
        note: {type: string, nullable: true}
        parent: {$ref: '#/components/schemas/Item'}
        price: {nullable: true, allOf: [{$ref: '#/components/schemas/Money'}]}
      xml: {name: item}
    Money: {type: number, maximum: 100, exclusiveMaximum: true}
    Unused: {type: string}
""").value


def tools(document: Any) -> dict[str, Any]:
    result = import_tools(json.dumps(document))
    assert result.problem == ""
    assert result.kind == "openapi"
    for tool in result.tools:
        assert check_schema(tool.parameters) == []
        assert tool.parameters is not None
        with contextlib.suppress(TooCostlyError):  # a schema that refers to itself is checked in the worker process
            assert check_value(sample(tool.parameters), tool.parameters) == []
    return {tool.name: tool for tool in result.tools}


def test_each_operation_is_a_tool_with_one_schema_of_its_parameters() -> None:
    result = tools(SHOP)
    assert list(result) == ["items_get", "put_items_id", "add"]
    assert result["items_get"].description == "Get an item\n\nWith all its parts."
    assert result["put_items_id"].description == "PUT /items/{id}\n\n(Deprecated.)"
    assert result["items_get"].parameters == {
        "type": "object",
        "properties": {
            "id": {"type": "integer", "description": "Which"},
            "lang": {"type": "string", "enum": ["en", "pt"], "examples": ["en"]},
            "limit": {"type": "integer", "exclusiveMinimum": 0},
            "X-Trace": {"type": "string"},
        },
        "required": ["id"],
    }


def test_object_as_body_joins_the_parameters_and_any_other_is_one_of_its_own() -> None:
    schema = tools(SHOP)["put_items_id"].parameters
    assert list(schema["properties"]) == ["id", "lang", "name", "note", "parent", "price"]
    assert schema["required"] == ["id", "name"]
    assert schema["properties"]["name"] == {"type": "string", "examples": ["Chair"]}
    assert schema["properties"]["note"] == {"type": ["string", "null"]}
    assert schema["properties"]["parent"] == {"$ref": "#/$defs/Item"}
    assert schema["$defs"]["Item"]["properties"]["parent"] == {"$ref": "#/$defs/Item"}
    assert schema["$defs"]["Money"] == {"type": "number", "exclusiveMaximum": 100}
    assert schema["properties"]["price"] == {"anyOf": [{"allOf": [{"$ref": "#/$defs/Money"}]}, {"type": "null"}]}
    assert set(schema["$defs"]) == {"Item", "Money"}
    schema = tools(SHOP)["add"].parameters
    assert schema["properties"] == {
        "body": {"type": "array", "items": {"$ref": "#/$defs/Item"}, "description": "All of them"}
    }
    assert "required" not in schema


def test_omission_is_named() -> None:
    result = import_tools(json.dumps(SHOP))
    assert "items_get: the cookie “session” is left out" in result.notes
    changed = copy.deepcopy(SHOP)
    changed["components"]["schemas"]["Item"]["properties"]["parent"] = {"$ref": "other.json#/Item"}
    changed["paths"]["/items"]["post"]["requestBody"]["content"] = {"text/csv": {"schema": {"$ref": "#/nowhere"}}}
    notes = import_tools(json.dumps(changed)).notes
    assert "the reference “other.json#/Item” leads out of the document, so any value is allowed there" in notes
    assert "the reference “#/nowhere” leads nowhere, so any value is allowed there" in notes
    assert "add: the body is text/csv, not JSON" in notes


def test_clashing_names_are_changed() -> None:
    schema = {"type": "object", "properties": {"id": {}}, "example": {"id": 1}}
    parameters = [{"name": "id", "in": place, "schema": {"type": "string"}} for place in ("path", "query")]
    body = {"required": True, "content": {"application/json": {"schema": schema}}}
    post = {"operationId": "same", "parameters": parameters, "requestBody": body}
    document = {"openapi": "3.1.0", "paths": {"/a/{id}": {"post": post}, "/b": {"get": {"operationId": "same"}}}}
    result = tools(document)
    assert list(result) == ["same", "same_2"]
    assert list(result["same"].parameters["properties"]) == ["id", "query_id", "body"]
    assert result["same"].parameters["required"] == ["id", "body"]
    assert result["same_2"].parameters == {"type": "object", "properties": {}}


@each_case(
    ("document", "words"),
    [
        ({"swagger": "1.2", "paths": {}}, "not 1.2"),
        ({"openapi": "4.0"}, "not 4.0"),
        ({"openapi": "3.1.0"}, "no paths"),
        ({"openapi": "3.1.0", "paths": {"/a": {}}}, "no operations"),
        ({"openapi": "3.1.0", "paths": {"/a": 5, "/b": {"get": 5, "post": {"$ref": "#/x"}}}}, "no operations"),
    ],
)
def test_document_without_tools_has_a_problem(document: Any, words: str) -> None:
    result = import_tools(json.dumps(document))
    assert result.tools == ()
    assert words in result.problem


@each_case(
    "operation",
    [
        {"parameters": 5, "requestBody": 5},
        {"parameters": [5, {}, {"name": 5}, {"name": "a"}], "requestBody": {"content": 5}},
        {"parameters": [{"name": "a", "in": "query", "schema": False}, {"name": "b", "content": {"x": 5}}]},
        {"requestBody": {"content": {"application/json": {"schema": {"properties": {"a": {"$ref": "#"}}}}}}},
        {"requestBody": {"content": {"application/json": {}}}, "operationId": 5, "summary": 5, "description": []},
    ],
)
def test_odd_operation_is_read(operation: Any) -> None:
    result = import_tools(json.dumps({"openapi": "3.0.0", "paths": {"/a": {"get": operation}}}))
    assert [tool.name for tool in result.tools] == ["get_a"]


def test_chain_of_references_may_be_of_any_length() -> None:
    length = 2_000
    through: dict[str, Any] = {
        f"T{number}": {"type": "object", "properties": {"next": {"$ref": f"#/components/schemas/T{number + 1}"}}}
        for number in range(length)
    }
    through[f"T{length}"] = {"type": "object", "properties": {"first": {"$ref": "#/components/schemas/T0"}}}
    bare: dict[str, Any] = {f"C{number}": {"$ref": f"#/components/schemas/C{number + 1}"} for number in range(length)}
    bare[f"C{length}"] = {"type": "object", "properties": {"end": {"type": "string"}}}
    bodies = {
        name: {"content": {"application/json": {"schema": {"$ref": f"#/components/schemas/{name}0"}}}} for name in "TC"
    }
    paths: dict[str, Any] = {f"/{name}": {"put": {"requestBody": body}} for name, body in bodies.items()}
    paths["/round"] = {"put": {"requestBody": {"$ref": "#/components/schemas/Round"}}}
    schemas = {**through, **bare, "Round": {"$ref": "#/components/schemas/Round"}}
    document = {"openapi": "3.1.0", "paths": paths, "components": {"schemas": schemas}}
    parameters = {tool.name: tool.parameters or {} for tool in import_tools(json.dumps(document)).tools}
    assert list(parameters["put_C"]["properties"]) == ["end"]
    assert parameters["put_round"]["properties"] == {}
    assert len(parameters["put_T"]["$defs"]) == length + 1


PETS: dict[str, Any] = {
    "Pet": {
        "type": "object",
        "required": ["id", "name"],
        "properties": {
            "id": {"type": "integer", "readOnly": True},
            "name": {"type": "string"},
            "pin": {"type": "string", "writeOnly": True},
        },
    },
    "Stamp": {"type": "string", "readOnly": True},
    "Dog": {
        "allOf": [
            {"$ref": "#/components/schemas/Pet"},
            {
                "type": "object",
                "required": ["id", "created", "age"],
                "properties": {
                    "created": {"$ref": "#/components/schemas/Stamp"},
                    "owner": {"allOf": [{"$ref": "#/components/schemas/Pet"}], "readOnly": True},
                    "age": {"type": "integer"},
                    "tags": {
                        "type": "object",
                        "required": ["etag"],
                        "properties": {"etag": {"readOnly": True}, "readOnly": {"type": "boolean"}},
                    },
                },
            },
        ]
    },
}


@each_case("version", ["3.0.3", "3.2.0"])
def test_read_only_member_is_left_out(version: str) -> None:
    def schema(name: str) -> dict[str, Any]:
        body = {"required": True, "content": {"application/json": {"schema": {"$ref": f"#/components/schemas/{name}"}}}}
        paths = {"/a": {"post": {"operationId": "add", "requestBody": body}}}
        document = {"openapi": version, "paths": paths, "components": {"schemas": PETS}}
        assert any("read-only members are left out: " in note for note in import_tools(json.dumps(document)).notes)
        parameters: dict[str, Any] = tools(document)["add"].parameters
        return parameters

    pet = schema("Pet")
    assert list(pet["properties"]) == ["name", "pin"]
    assert pet["required"] == ["name"]
    definitions = schema("Dog")["$defs"]
    assert definitions["Pet"]["required"] == ["name"]
    dog = definitions["Dog"]["allOf"][1]
    assert list(dog["properties"]) == ["age", "tags"]
    assert dog["required"] == ["age"]
    assert dog["properties"]["tags"] == {"type": "object", "properties": {"readOnly": {"type": "boolean"}}}


def test_document_of_openapi_2_is_read() -> None:
    document = read_yaml("""
swagger: '2.0'
paths:
  /pets/{id}:
    get:
      operationId: get
      parameters:
        - {name: id, in: path, required: true, type: integer, format: int64}
        - {$ref: '#/parameters/limit'}
    put:
      operationId: put
      parameters: [{name: pet, in: body, schema: {$ref: '#/definitions/Pet'}}]
    post:
      operationId: upload
      parameters:
        - {name: file, in: formData, type: file, required: true, description: The file}
        - {name: note, in: formData, type: string}
parameters: {limit: {name: limit, in: query, type: array, items: {type: string}}}
definitions: {Pet: {type: object, required: [name], properties: {name: {type: string, x-nullable: true}}}}
""").value
    result = tools(document)
    assert result["get"].parameters["properties"] == {
        "id": {"type": "integer", "format": "int64"},
        "limit": {"type": "array", "items": {"type": "string"}},
    }
    assert result["put"].parameters["properties"] == {"name": {"type": ["string", "null"]}}
    assert result["upload"].parameters == {
        "type": "object",
        "properties": {
            "file": {"type": "string", "description": "The file", "format": "binary"},
            "note": {"type": "string"},
        },
        "required": ["file"],
    }


def test_body_of_another_kind_is_named() -> None:
    content = {"application/json-patch+json": {"schema": {"type": "array"}}, "application/json": {"schema": {}}}
    document = {"openapi": "3.1.0", "paths": {"/a": {"post": {"requestBody": {"content": content}}}}}
    notes = import_tools(json.dumps(document)).notes
    assert "post_a: the body may also be application/json-patch+json, which is left out" in notes

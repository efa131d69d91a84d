/**
 * @generated SignedSource<<fd75ceb6466ef485d8a6af163b57f778>>
 * @lightSyntaxTransform
 */

/* tslint:disable */
/* eslint-disable */
// @ts-nocheck

import type { ConcreteRequest } from 'relay-runtime';
export type documentsContactQuery$variables = {
  id: string;
};
export type documentsContactQuery$data = {
  readonly contact: {
    readonly firstName: string | null | undefined;
    readonly id: string;
  } | null | undefined;
};
export type documentsContactQuery = {
  response: documentsContactQuery$data;
  variables: documentsContactQuery$variables;
};

const node: ConcreteRequest = (function(){
var v0 = [
  {
    "defaultValue": null,
    "kind": "LocalArgument",
    "name": "id"
  }
],
v1 = [
  {
    "alias": null,
    "args": [
      {
        "kind": "Variable",
        "name": "id",
        "variableName": "id"
      }
    ],
    "concreteType": "Contact",
    "kind": "LinkedField",
    "name": "contact",
    "plural": false,
    "selections": [
      {
        "alias": null,
        "args": null,
        "kind": "ScalarField",
        "name": "id",
        "storageKey": null
      },
      {
        "alias": null,
        "args": null,
        "kind": "ScalarField",
        "name": "firstName",
        "storageKey": null
      }
    ],
    "storageKey": null
  }
];
return {
  "fragment": {
    "argumentDefinitions": (v0/*:: as any*/),
    "kind": "Fragment",
    "metadata": null,
    "name": "documentsContactQuery",
    "selections": (v1/*:: as any*/),
    "type": "Query",
    "abstractKey": null
  },
  "kind": "Request",
  "operation": {
    "argumentDefinitions": (v0/*:: as any*/),
    "kind": "Operation",
    "name": "documentsContactQuery",
    "selections": (v1/*:: as any*/)
  },
  "params": {
    "cacheID": "5cc2edd14c4d1e217e267ac468f9623b",
    "id": null,
    "metadata": {},
    "name": "documentsContactQuery",
    "operationKind": "query",
    "text": "query documentsContactQuery(\n  $id: ID!\n) {\n  contact(id: $id) {\n    id\n    firstName\n  }\n}\n"
  }
};
})();

(node as any).hash = "1159c075c6b286ea1621a18d5aa96e63";

export default node;

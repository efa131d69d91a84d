/**
 * @generated SignedSource<<c25b21fea72efc01f7be77236e9769c4>>
 * @lightSyntaxTransform
 */

/* tslint:disable */
/* eslint-disable */
// @ts-nocheck

import type { ConcreteRequest } from 'relay-runtime';
export type UpdateContactStatusInput = {
  color?: string | null | undefined;
  id: string;
  idempotencyKey?: string | null | undefined;
  name?: string | null | undefined;
};
export type documentsUpdateStatusMutation$variables = {
  input: UpdateContactStatusInput;
};
export type documentsUpdateStatusMutation$data = {
  readonly updateContactStatus: {
    readonly contactStatus: {
      readonly color: string;
      readonly id: string;
      readonly name: string;
    } | null | undefined;
    readonly userErrors: ReadonlyArray<{
      readonly message: string;
      readonly path: ReadonlyArray<string>;
    }>;
  } | null | undefined;
};
export type documentsUpdateStatusMutation = {
  response: documentsUpdateStatusMutation$data;
  variables: documentsUpdateStatusMutation$variables;
};

const node: ConcreteRequest = (function(){
var v0 = [
  {
    "defaultValue": null,
    "kind": "LocalArgument",
    "name": "input"
  }
],
v1 = [
  {
    "kind": "Variable",
    "name": "input",
    "variableName": "input"
  }
],
v2 = {
  "alias": null,
  "args": null,
  "concreteType": "ContactStatus",
  "kind": "LinkedField",
  "name": "contactStatus",
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
      "name": "name",
      "storageKey": null
    },
    {
      "alias": null,
      "args": null,
      "kind": "ScalarField",
      "name": "color",
      "storageKey": null
    }
  ],
  "storageKey": null
},
v3 = {
  "alias": null,
  "args": null,
  "kind": "ScalarField",
  "name": "message",
  "storageKey": null
},
v4 = {
  "alias": null,
  "args": null,
  "kind": "ScalarField",
  "name": "path",
  "storageKey": null
};
return {
  "fragment": {
    "argumentDefinitions": (v0/*:: as any*/),
    "kind": "Fragment",
    "metadata": null,
    "name": "documentsUpdateStatusMutation",
    "selections": [
      {
        "alias": null,
        "args": (v1/*:: as any*/),
        "concreteType": "ContactStatusPayload",
        "kind": "LinkedField",
        "name": "updateContactStatus",
        "plural": false,
        "selections": [
          (v2/*:: as any*/),
          {
            "alias": null,
            "args": null,
            "concreteType": null,
            "kind": "LinkedField",
            "name": "userErrors",
            "plural": true,
            "selections": [
              (v3/*:: as any*/),
              (v4/*:: as any*/)
            ],
            "storageKey": null
          }
        ],
        "storageKey": null
      }
    ],
    "type": "Mutation",
    "abstractKey": null
  },
  "kind": "Request",
  "operation": {
    "argumentDefinitions": (v0/*:: as any*/),
    "kind": "Operation",
    "name": "documentsUpdateStatusMutation",
    "selections": [
      {
        "alias": null,
        "args": (v1/*:: as any*/),
        "concreteType": "ContactStatusPayload",
        "kind": "LinkedField",
        "name": "updateContactStatus",
        "plural": false,
        "selections": [
          (v2/*:: as any*/),
          {
            "alias": null,
            "args": null,
            "concreteType": null,
            "kind": "LinkedField",
            "name": "userErrors",
            "plural": true,
            "selections": [
              {
                "alias": null,
                "args": null,
                "kind": "ScalarField",
                "name": "__typename",
                "storageKey": null
              },
              (v3/*:: as any*/),
              (v4/*:: as any*/)
            ],
            "storageKey": null
          }
        ],
        "storageKey": null
      }
    ]
  },
  "params": {
    "cacheID": "64ce1ec31b6a166c9e8e062b6e346647",
    "id": null,
    "metadata": {},
    "name": "documentsUpdateStatusMutation",
    "operationKind": "mutation",
    "text": "mutation documentsUpdateStatusMutation(\n  $input: UpdateContactStatusInput!\n) {\n  updateContactStatus(input: $input) {\n    contactStatus {\n      id\n      name\n      color\n    }\n    userErrors {\n      __typename\n      message\n      path\n    }\n  }\n}\n"
  }
};
})();

(node as any).hash = "ac16a16b2c7bb8dbbbee831790d10b15";

export default node;

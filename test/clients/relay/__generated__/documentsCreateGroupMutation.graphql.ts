/**
 * @generated SignedSource<<44dec4017a2b21c290540848a21c5cd6>>
 * @lightSyntaxTransform
 */

/* tslint:disable */
/* eslint-disable */
// @ts-nocheck

import type { ConcreteRequest } from 'relay-runtime';
export type ErrorCode = "CONFLICT" | "CONTACT_OPTED_OUT" | "FEATURE_LIMIT_EXCEEDED" | "FEATURE_NOT_AVAILABLE" | "IDEMPOTENCY_MISMATCH" | "INVALID" | "MESSAGE_SEND_FAILED" | "MESSAGING_NOT_CONFIGURED" | "NETWORK_REFUSED" | "NOT_APPROVED" | "NOT_FOUND" | "OUTSIDE_SERVICE_WINDOW" | "OUT_OF_RANGE" | "RATE_LIMIT_EXCEEDED" | "REFERENCE_NOT_FOUND" | "REQUIRED" | "ROLLED_BACK" | "SURPLUS" | "TAKEN" | "TOO_LONG" | "TOO_MANY" | "TOO_SHORT" | "UNKNOWN_MERGE_FIELD" | "%future added value";
export type CreateContactGroupInput = {
  idempotencyKey?: string | null | undefined;
  name: string;
};
export type documentsCreateGroupMutation$variables = {
  input: CreateContactGroupInput;
};
export type documentsCreateGroupMutation$data = {
  readonly createContactGroup: {
    readonly contactGroup: {
      readonly id: string;
      readonly name: string;
    } | null | undefined;
    readonly userErrors: ReadonlyArray<{
      readonly __typename: string;
      readonly code: ErrorCode;
      readonly message: string;
      readonly path: ReadonlyArray<string>;
    }>;
  } | null | undefined;
};
export type documentsCreateGroupMutation = {
  response: documentsCreateGroupMutation$data;
  variables: documentsCreateGroupMutation$variables;
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
    "alias": null,
    "args": [
      {
        "kind": "Variable",
        "name": "input",
        "variableName": "input"
      }
    ],
    "concreteType": "ContactGroupPayload",
    "kind": "LinkedField",
    "name": "createContactGroup",
    "plural": false,
    "selections": [
      {
        "alias": null,
        "args": null,
        "concreteType": "ContactGroup",
        "kind": "LinkedField",
        "name": "contactGroup",
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
          }
        ],
        "storageKey": null
      },
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
          {
            "alias": null,
            "args": null,
            "kind": "ScalarField",
            "name": "code",
            "storageKey": null
          },
          {
            "alias": null,
            "args": null,
            "kind": "ScalarField",
            "name": "message",
            "storageKey": null
          },
          {
            "alias": null,
            "args": null,
            "kind": "ScalarField",
            "name": "path",
            "storageKey": null
          }
        ],
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
    "name": "documentsCreateGroupMutation",
    "selections": (v1/*:: as any*/),
    "type": "Mutation",
    "abstractKey": null
  },
  "kind": "Request",
  "operation": {
    "argumentDefinitions": (v0/*:: as any*/),
    "kind": "Operation",
    "name": "documentsCreateGroupMutation",
    "selections": (v1/*:: as any*/)
  },
  "params": {
    "cacheID": "99a4de3d51eff16be241052ce2559058",
    "id": null,
    "metadata": {},
    "name": "documentsCreateGroupMutation",
    "operationKind": "mutation",
    "text": "mutation documentsCreateGroupMutation(\n  $input: CreateContactGroupInput!\n) {\n  createContactGroup(input: $input) {\n    contactGroup {\n      id\n      name\n    }\n    userErrors {\n      __typename\n      code\n      message\n      path\n    }\n  }\n}\n"
  }
};
})();

(node as any).hash = "8b8450a3de935b4c0f57ad05d55b8908";

export default node;

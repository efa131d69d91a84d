/**
 * @generated SignedSource<<ce4f2e9640fe7c64988de6c95688f25b>>
 * @lightSyntaxTransform
 */

/* tslint:disable */
/* eslint-disable */
// @ts-nocheck

import type { ConcreteRequest } from 'relay-runtime';
export type documentsContactsSubscription$variables = {
  after?: string | null | undefined;
};
export type documentsContactsSubscription$data = {
  readonly events: {
    readonly contact?: {
      readonly firstName: string | null | undefined;
      readonly id: string;
    } | null | undefined;
    readonly cursor: string;
    readonly id: string;
    readonly payload?: any;
  };
};
export type documentsContactsSubscription = {
  response: documentsContactsSubscription$data;
  variables: documentsContactsSubscription$variables;
};

const node: ConcreteRequest = (function(){
var v0 = [
  {
    "defaultValue": null,
    "kind": "LocalArgument",
    "name": "after"
  }
],
v1 = [
  {
    "kind": "Variable",
    "name": "after",
    "variableName": "after"
  },
  {
    "kind": "Literal",
    "name": "filter",
    "value": {
      "types": [
        "CONTACT_UPDATED"
      ]
    }
  }
],
v2 = {
  "alias": null,
  "args": null,
  "kind": "ScalarField",
  "name": "id",
  "storageKey": null
},
v3 = {
  "alias": null,
  "args": null,
  "kind": "ScalarField",
  "name": "cursor",
  "storageKey": null
},
v4 = {
  "kind": "InlineFragment",
  "selections": [
    {
      "alias": null,
      "args": null,
      "kind": "ScalarField",
      "name": "payload",
      "storageKey": null
    },
    {
      "alias": null,
      "args": null,
      "concreteType": "Contact",
      "kind": "LinkedField",
      "name": "contact",
      "plural": false,
      "selections": [
        (v2/*:: as any*/),
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
  ],
  "type": "ContactEvent",
  "abstractKey": null
};
return {
  "fragment": {
    "argumentDefinitions": (v0/*:: as any*/),
    "kind": "Fragment",
    "metadata": null,
    "name": "documentsContactsSubscription",
    "selections": [
      {
        "alias": null,
        "args": (v1/*:: as any*/),
        "concreteType": null,
        "kind": "LinkedField",
        "name": "events",
        "plural": false,
        "selections": [
          (v2/*:: as any*/),
          (v3/*:: as any*/),
          (v4/*:: as any*/)
        ],
        "storageKey": null
      }
    ],
    "type": "Subscription",
    "abstractKey": null
  },
  "kind": "Request",
  "operation": {
    "argumentDefinitions": (v0/*:: as any*/),
    "kind": "Operation",
    "name": "documentsContactsSubscription",
    "selections": [
      {
        "alias": null,
        "args": (v1/*:: as any*/),
        "concreteType": null,
        "kind": "LinkedField",
        "name": "events",
        "plural": false,
        "selections": [
          {
            "alias": null,
            "args": null,
            "kind": "ScalarField",
            "name": "__typename",
            "storageKey": null
          },
          (v2/*:: as any*/),
          (v3/*:: as any*/),
          (v4/*:: as any*/)
        ],
        "storageKey": null
      }
    ]
  },
  "params": {
    "cacheID": "08a73a5eb373b9af5d8a68930162b571",
    "id": null,
    "metadata": {},
    "name": "documentsContactsSubscription",
    "operationKind": "subscription",
    "text": "subscription documentsContactsSubscription(\n  $after: String\n) {\n  events(filter: {types: [CONTACT_UPDATED]}, after: $after) {\n    __typename\n    id\n    cursor\n    ... on ContactEvent {\n      payload\n      contact {\n        id\n        firstName\n      }\n    }\n  }\n}\n"
  }
};
})();

(node as any).hash = "f45b196579c296645bc890c41413a471";

export default node;

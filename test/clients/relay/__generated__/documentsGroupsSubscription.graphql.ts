/**
 * @generated SignedSource<<5475907ce450a59700edfd015823646e>>
 * @lightSyntaxTransform
 */

/* tslint:disable */
/* eslint-disable */
// @ts-nocheck

import type { ConcreteRequest } from 'relay-runtime';
export type documentsGroupsSubscription$variables = Record<PropertyKey, never>;
export type documentsGroupsSubscription$data = {
  readonly events: {
    readonly contactGroup?: {
      readonly id: string;
      readonly name: string;
    } | null | undefined;
    readonly cursor: string;
    readonly id: string;
  };
};
export type documentsGroupsSubscription = {
  response: documentsGroupsSubscription$data;
  variables: documentsGroupsSubscription$variables;
};

const node: ConcreteRequest = (function(){
var v0 = [
  {
    "kind": "Literal",
    "name": "filter",
    "value": {
      "types": [
        "GROUP_CREATED"
      ]
    }
  }
],
v1 = {
  "alias": null,
  "args": null,
  "kind": "ScalarField",
  "name": "id",
  "storageKey": null
},
v2 = {
  "alias": null,
  "args": null,
  "kind": "ScalarField",
  "name": "cursor",
  "storageKey": null
},
v3 = {
  "kind": "InlineFragment",
  "selections": [
    {
      "alias": null,
      "args": null,
      "concreteType": "ContactGroup",
      "kind": "LinkedField",
      "name": "contactGroup",
      "plural": false,
      "selections": [
        (v1/*:: as any*/),
        {
          "alias": null,
          "args": null,
          "kind": "ScalarField",
          "name": "name",
          "storageKey": null
        }
      ],
      "storageKey": null
    }
  ],
  "type": "ContactGroupEvent",
  "abstractKey": null
};
return {
  "fragment": {
    "argumentDefinitions": [],
    "kind": "Fragment",
    "metadata": null,
    "name": "documentsGroupsSubscription",
    "selections": [
      {
        "alias": null,
        "args": (v0/*:: as any*/),
        "concreteType": null,
        "kind": "LinkedField",
        "name": "events",
        "plural": false,
        "selections": [
          (v1/*:: as any*/),
          (v2/*:: as any*/),
          (v3/*:: as any*/)
        ],
        "storageKey": "events(filter:{\"types\":[\"GROUP_CREATED\"]})"
      }
    ],
    "type": "Subscription",
    "abstractKey": null
  },
  "kind": "Request",
  "operation": {
    "argumentDefinitions": [],
    "kind": "Operation",
    "name": "documentsGroupsSubscription",
    "selections": [
      {
        "alias": null,
        "args": (v0/*:: as any*/),
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
          (v1/*:: as any*/),
          (v2/*:: as any*/),
          (v3/*:: as any*/)
        ],
        "storageKey": "events(filter:{\"types\":[\"GROUP_CREATED\"]})"
      }
    ]
  },
  "params": {
    "cacheID": "80aed4614e68b52a9bd5a9928d2c4e97",
    "id": null,
    "metadata": {},
    "name": "documentsGroupsSubscription",
    "operationKind": "subscription",
    "text": "subscription documentsGroupsSubscription {\n  events(filter: {types: [GROUP_CREATED]}) {\n    __typename\n    id\n    cursor\n    ... on ContactGroupEvent {\n      contactGroup {\n        id\n        name\n      }\n    }\n  }\n}\n"
  }
};
})();

(node as any).hash = "b2e3d8b02e8b61e6e913027ee92b77b4";

export default node;

/**
 * @generated SignedSource<<a153e820b2ed0d7eba0869fdeb386064>>
 * @lightSyntaxTransform
 */

/* tslint:disable */
/* eslint-disable */
// @ts-nocheck

import type { ConcreteRequest } from 'relay-runtime';
export type documentsMessagesQuery$variables = Record<PropertyKey, never>;
export type documentsMessagesQuery$data = {
  readonly messages: {
    readonly edges: ReadonlyArray<{
      readonly node: {
        readonly content: {
          readonly __typename: "InteractiveContent";
          readonly buttons: ReadonlyArray<{
            readonly replyId: string;
            readonly title: string;
          }>;
        } | {
          // This will never be '%other', but we need some
          // value in case none of the concrete values match.
          readonly __typename: "%other";
        };
        readonly id: string;
      };
    }>;
  } | null | undefined;
};
export type documentsMessagesQuery = {
  response: documentsMessagesQuery$data;
  variables: documentsMessagesQuery$variables;
};

const node: ConcreteRequest = (function(){
var v0 = [
  {
    "alias": null,
    "args": [
      {
        "kind": "Literal",
        "name": "first",
        "value": 10
      }
    ],
    "concreteType": "MessageConnection",
    "kind": "LinkedField",
    "name": "messages",
    "plural": false,
    "selections": [
      {
        "alias": null,
        "args": null,
        "concreteType": "MessageEdge",
        "kind": "LinkedField",
        "name": "edges",
        "plural": true,
        "selections": [
          {
            "alias": null,
            "args": null,
            "concreteType": "Message",
            "kind": "LinkedField",
            "name": "node",
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
                "concreteType": null,
                "kind": "LinkedField",
                "name": "content",
                "plural": false,
                "selections": [
                  {
                    "alias": null,
                    "args": null,
                    "kind": "ScalarField",
                    "name": "__typename",
                    "storageKey": null
                  },
                  {
                    "kind": "InlineFragment",
                    "selections": [
                      {
                        "alias": null,
                        "args": null,
                        "concreteType": "ReplyButton",
                        "kind": "LinkedField",
                        "name": "buttons",
                        "plural": true,
                        "selections": [
                          {
                            "alias": null,
                            "args": null,
                            "kind": "ScalarField",
                            "name": "replyId",
                            "storageKey": null
                          },
                          {
                            "alias": null,
                            "args": null,
                            "kind": "ScalarField",
                            "name": "title",
                            "storageKey": null
                          }
                        ],
                        "storageKey": null
                      }
                    ],
                    "type": "InteractiveContent",
                    "abstractKey": null
                  }
                ],
                "storageKey": null
              }
            ],
            "storageKey": null
          }
        ],
        "storageKey": null
      }
    ],
    "storageKey": "messages(first:10)"
  }
];
return {
  "fragment": {
    "argumentDefinitions": [],
    "kind": "Fragment",
    "metadata": null,
    "name": "documentsMessagesQuery",
    "selections": (v0/*:: as any*/),
    "type": "Query",
    "abstractKey": null
  },
  "kind": "Request",
  "operation": {
    "argumentDefinitions": [],
    "kind": "Operation",
    "name": "documentsMessagesQuery",
    "selections": (v0/*:: as any*/)
  },
  "params": {
    "cacheID": "18b967119a30a5dc534008f33a5dc19e",
    "id": null,
    "metadata": {},
    "name": "documentsMessagesQuery",
    "operationKind": "query",
    "text": "query documentsMessagesQuery {\n  messages(first: 10) {\n    edges {\n      node {\n        id\n        content {\n          __typename\n          ... on InteractiveContent {\n            buttons {\n              replyId\n              title\n            }\n          }\n        }\n      }\n    }\n  }\n}\n"
  }
};
})();

(node as any).hash = "df45f311d653d4e02921199ad97e0e54";

export default node;

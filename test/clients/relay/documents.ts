/**
 * Documents of the Relay tests. `__generated__` has what Relay's compiler makes of them; after a change run
 * `cd test/clients/relay && npx relay-compiler@21.0.1 relay.config.json`. The compiler is no dependency, because it is 120 MB.
 */
const graphql = String.raw;

export const DOCUMENTS: Readonly<Record<string, string>> = {
  documentsGroupsQuery: graphql`
    query documentsGroupsQuery($first: Int!, $after: String, $search: String) {
      contactGroups(first: $first, after: $after, search: $search)
        @connection(key: "Groups_contactGroups", filters: ["search"]) {
        edges {
          node {
            id
            name
          }
        }
      }
    }
  `,
  documentsCreateGroupMutation: graphql`
    mutation documentsCreateGroupMutation($input: CreateContactGroupInput!) {
      createContactGroup(input: $input) {
        contactGroup {
          id
          name
        }
        userErrors {
          __typename
          code
          message
          path
        }
      }
    }
  `,
  documentsUpdateStatusMutation: graphql`
    mutation documentsUpdateStatusMutation($input: UpdateContactStatusInput!) {
      updateContactStatus(input: $input) {
        contactStatus {
          id
          name
          color
        }
        userErrors {
          message
          path
        }
      }
    }
  `,
  documentsMessagesQuery: graphql`
    query documentsMessagesQuery {
      messages(first: 10) {
        edges {
          node {
            id
            content {
              __typename
              ... on InteractiveContent {
                buttons {
                  replyId
                  title
                }
              }
            }
          }
        }
      }
    }
  `,
  documentsContactQuery: graphql`
    query documentsContactQuery($id: ID!) {
      contact(id: $id) {
        id
        firstName
      }
    }
  `,
  documentsContactsSubscription: graphql`
    subscription documentsContactsSubscription($after: String) {
      events(filter: { types: [CONTACT_UPDATED] }, after: $after) {
        id
        cursor
        ... on ContactEvent {
          payload
          contact {
            id
            firstName
          }
        }
      }
    }
  `,
  documentsGroupsSubscription: graphql`
    subscription documentsGroupsSubscription {
      events(filter: { types: [GROUP_CREATED] }) {
        id
        cursor
        ... on ContactGroupEvent {
          contactGroup {
            id
            name
          }
        }
      }
    }
  `,
};

/** The page of the first benchmark: what a list of contacts in a front end shows, fifty at a time. */
export const PAGE_SIZE = 50;

export const PARLEY_LIST = `query Contacts($first: Int!) {
  contacts(first: $first) {
    nodes {
      id firstName lastName email phone type company city createdAt updatedAt
      source { id name }
      status { id name color }
      groups { id name }
    }
    pageInfo { hasNextPage endCursor }
  }
}`;

/** The same of PostGraphile: its names follow from the tables. */
export const POSTGRAPHILE_LIST = `query Contacts($tenant: BigInt!, $first: Int!) {
  allContacts(first: $first, condition: { tenantId: $tenant }, orderBy: [ROW_ID_DESC]) {
    nodes {
      id firstname lastname email phone type company city createdAt updatedAt
      sourceByTenantIdAndSourceId { id name }
      statusByTenantIdAndStatusId { id name color }
      contactGroupsByTenantIdAndContactId { nodes { groupByTenantIdAndGroupId { id name } } }
    }
    pageInfo { hasNextPage endCursor }
  }
}`;

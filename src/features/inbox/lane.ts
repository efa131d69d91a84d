/** The queue of tenants with webhooks that wait; one lane per tenant, so that a person's messages keep their order. */
export const INBOX = 'inbox';

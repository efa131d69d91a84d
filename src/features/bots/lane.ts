/** The queue of tenants with messages that bots have to look at, or with answers to be sent: one lane for each tenant. */
export const BOTS = 'bots';

import { builder } from './builder.ts';

/** The network's quality rating of a template or a phone number. */
export const Quality = builder.enumType('Quality', {
  description: 'Rating by the network, from how people react to the messages.',
  values: {
    GREEN: { description: 'High quality.' },
    YELLOW: { description: 'Medium quality.' },
    RED: { description: 'Low quality.' },
    UNKNOWN: { description: 'Not rated yet.' },
  } as const,
});

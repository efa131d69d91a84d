import { builder } from './builder.ts';

/** How the network rates what people think of a template, or of the messages of a phone number. */
export const Quality = builder.enumType('Quality', {
  description: 'Rating by the network, from how people react to the messages.',
  values: {
    GREEN: { description: 'High quality.' },
    YELLOW: { description: 'Medium quality.' },
    RED: { description: 'Low quality.' },
    UNKNOWN: { description: 'Not rated yet.' },
  } as const,
});

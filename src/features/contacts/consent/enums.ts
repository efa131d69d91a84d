import { builder } from '../../../schema/builder.ts';

export const ConsentCategoryEnum = builder.enumType('ConsentCategory', {
  description: 'Messages that a person may consent to.',
  values: {
    ALL: { value: 'all', description: 'All messages.' },
    MARKETING: { value: 'marketing', description: 'Marketing messages.' },
    UTILITY: { value: 'utility', description: 'Utility messages: orders, appointments, accounts.' },
  } as const,
});

export const ConsentStateEnum = builder.enumType('ConsentState', {
  description: 'Whether a person consents.',
  values: {
    OPTED_IN: { value: 'opted_in', description: 'The person agreed.' },
    OPTED_OUT: { value: 'opted_out', description: 'The person refused.' },
  } as const,
});

export const ConsentSourceEnum = builder.enumType('ConsentSource', {
  description: 'How consent was given or withdrawn.',
  values: {
    KEYWORD: { value: 'keyword', description: 'A word that the person sent, such as STOP.' },
    BUTTON: { value: 'button', description: 'A button of a message.' },
    PAGE: { value: 'page', description: 'A web page or form.' },
    IMPORT: { value: 'import', description: 'Imported with the contact.' },
    API: { value: 'api', description: 'A program, through the API.' },
    STAFF: { value: 'staff', description: 'A member of staff.' },
    NETWORK: { value: 'network', description: 'The messaging network.' },
  } as const,
});

export const ConsentFilter = builder.inputType('ConsentFilter', {
  description: 'Conditions for the state of consent; all of them must hold.',
  fields: t => ({
    category: t.field({
      type: ConsentCategoryEnum,
      required: true,
      defaultValue: 'all',
      description: 'Category of messages.',
    }),
    eq: t.field({ type: ConsentStateEnum, description: 'Equal to this value.' }),
    ne: t.field({ type: ConsentStateEnum, description: 'Not equal to this value, or null.' }),
    in: t.field({ type: [ConsentStateEnum], description: 'Equal to one of these values.' }),
    notIn: t.field({ type: [ConsentStateEnum], description: 'Equal to none of these values, or null.' }),
    isNull: t.boolean({ description: 'True for contacts without recorded consent, false for others.' }),
  }),
});

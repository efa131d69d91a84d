export interface DemoPerson {
  /** E.164. */
  readonly phone: string;
  readonly name: string;
}

/** Texts of the demo's conversations, alternating: the customer begins. None contains the words of a bot. */
export const DEMO_THREADS: readonly (readonly string[])[] = [
  [
    'Hello, do you deliver on Saturdays?',
    'Yes, between 10 and 14. Would that suit you?',
    'Perfect, thank you!',
    'You are welcome.',
  ],
  [
    'The parcel arrived, but one cup is broken.',
    'I am sorry to hear that. Could you send a photo?',
    'Here it is, sorry for the light.',
    'Thank you. A new one leaves today, free of charge.',
  ],
  ['Can I change my address?', 'Of course. What is the new one?', 'Rua das Flores 12, 4050 Porto', 'Done!'],
  ['Is the blue jacket back in size M?', 'It will be, on Thursday. Shall I keep one for you?', 'Yes please!'],
  ['How do I return shoes?', 'The label is in the box. Drop it at any parcel shop within 30 days.'],
  ['I need an invoice with VAT number.', 'Please send me the number and the company name.'],
  ['Are you at the fair next week?', 'Yes, hall 4, stand 17. Come by for a coffee!', 'See you there.'],
  [
    'The discount code does not work',
    'Which one do you use?',
    'SPRING',
    'That one ended yesterday. Try SUMMER10.',
    'Thanks!',
  ],
  ['When do you open today?'],
  ['Good morning! Any news about the repair?', 'It is ready, you can collect it.', 'I will come at five.'],
  ['Could you call me back?', 'Certainly. When is a good time?', 'After 16:00'],
  ['Where is my order?'],
];

export const DEMO_CANNED_REPLIES = [
  { shortcut: 'hi', title: 'Greeting', text: 'Hello @{contact_first_name|there}, how can we help you?' },
  {
    shortcut: 'returns',
    title: 'Returns',
    text: 'The label is in the box. Drop it at any parcel shop within 30 days.',
  },
  { shortcut: 'bye', title: 'Goodbye', text: 'Thank you for writing to us. Have a nice day!' },
] as const;

export const DEMO_TAGS = [
  { name: 'Complaint', color: '#c0392b' },
  { name: 'Delivery', color: '#2f80ed' },
  { name: 'Invoice', color: '#8e6bbf' },
] as const;

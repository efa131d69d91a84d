import type { z } from 'zod';
import { body, requiredList, requiredObject, requiredText, text } from '../runtime/fields.ts';

export const BUTTONS = requiredList(
  body({ id: requiredText({ maxLength: 256 }), title: requiredText({ maxLength: 20 }) }),
  { minItems: 1, maxItems: 3 },
);

export const SECTIONS = requiredList(
  body({
    title: text({ maxLength: 24 }),
    rows: requiredList(
      body({
        id: requiredText({ maxLength: 200 }),
        title: requiredText({ maxLength: 24 }),
        description: text({ maxLength: 72 }),
      }),
      { minItems: 1 },
    ),
  }),
  { minItems: 1, maxItems: 10, description: '1 to 10 sections with at most 10 rows in total.' },
);

type Button = z.output<typeof BUTTONS>[number];
type Section = z.output<typeof SECTIONS>[number];

/** Buttons in GraphQL's names. */
export const buttonsInput = (buttons: readonly Button[]) => buttons.map(({ id, title }) => ({ replyId: id, title }));

/** Sections of a list in GraphQL's names. */
export const sectionsInput = (sections: readonly Section[]) =>
  sections.map(({ title, rows }) => ({
    title,
    rows: rows.map(({ id, title, description }) => ({ replyId: id, title, description })),
  }));

export const CTA_URL = requiredObject({
  display_text: requiredText({ maxLength: 20 }),
  url: requiredText({ maxLength: 2_000 }),
});

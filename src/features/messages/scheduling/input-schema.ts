import { builder } from '../../../schema/builder.ts';

export const ScheduledAtInput = builder.inputType('ScheduledAtInput', {
  description: 'When to send a message, at most a year ahead.',
  isOneOf: true,
  fields: t => ({
    instant: t.field({
      type: 'DateTime',
      description: 'The same moment for everybody, with the offset of a time zone.',
    }),
    recipientLocalTime: t.string({
      description:
        "A time on the recipient's clock, such as `2026-12-24T09:00`: in the contact's `timeZone`, else in the country of the number. Where that has several time zones, the message is sent when the time has come in all of them.",
    }),
  }),
});

import { builder } from './builder.ts';

/** How much of a kind of data there is. */
export interface DataCountShape {
  /** Name of the kind: `message`, `conversation`, … */
  readonly kind: string;
  readonly count: number;
  /** Why it is kept; null if that does not apply. */
  readonly reason?: string | null;
  /** When the retention period deletes the last of it. */
  readonly expiresAt?: string | null;
}

export const DataCount = builder.objectRef<DataCountShape>('DataCount').implement({
  description: 'How much of a kind of data there is.',
  fields: t => ({
    kind: t.exposeString('kind', { description: 'Kind of data, such as `message` or `conversation`.' }),
    count: t.exposeInt('count', { description: 'Number of rows.' }),
    reason: t.string({
      nullable: true,
      description: 'Why it is kept; null if that does not apply.',
      resolve: ({ reason }) => reason ?? null,
    }),
    expiresAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When the last of it is deleted; null if it is kept, or that is not known.',
      resolve: ({ expiresAt }) => expiresAt ?? null,
    }),
  }),
});

import { CodedError, FieldErrorList, invalid } from '../../core/errors.ts';
import { requireFeature } from '../../core/plan-features.ts';
import { callerOf, tenantOf } from '../../core/principal.ts';
import { isLonger, isStorable } from '../../platform/text.ts';
import type { Context } from '../../schema/context.ts';
import { once } from '../tenancy/idempotency/once.ts';
import { requireIntegration } from './find.ts';
import { parsePath } from './intake/path.ts';
import { standardWebhook } from './intake/signature.ts';
import { DEFAULT_TOPIC_PATH, type IntegrationRow, MAX_INTEGRATIONS, newKey, newSecret } from './integration.ts';
import { addMapping, type CheckedMapping, checkMapping } from './mappings/check-mapping.ts';
import { lengthCode, MAX_MAPPINGS, type MappingInput } from './mappings/mapping-input.ts';
import type { Kind } from './mappings/paths.ts';
import { requireMappingScopes } from './mappings/require-mapping-scopes.ts';
import { countryNamed } from './orders/order.ts';
import { countIntegrations, type IntegrationFields, insertIntegration } from './store.ts';

export interface IntegrationInput {
  readonly name?: string | null | undefined;
  readonly isEnabled?: boolean | null | undefined;
  readonly defaultCountry?: string | null | undefined;
  readonly topicPath?: string | null | undefined;
}

export interface CreateIntegrationInput extends IntegrationInput {
  readonly kind: Kind;
  readonly secret?: string | null | undefined;
  readonly mappings?: readonly MappingInput[] | null | undefined;
  readonly idempotencyKey?: string | null | undefined;
}

export interface CreatedIntegration {
  readonly integration: IntegrationRow;
  /** The generated secret, shown once; null if the caller gave it. */
  readonly secret: string | null;
}

export const MAX_NAME = 100;
export const NAME_TAKEN = 'Is already taken.';

/**
 * Creates an integration. Generates a secret if none is given, except for Shopify, which generates its own: until it is set, all
 * requests are rejected.
 * @throws VALIDATION_ERROR by field, FEATURE_NOT_AVAILABLE, FEATURE_LIMIT_EXCEEDED beyond 50; INSUFFICIENT_SCOPE for what its
 *   mappings do
 */
export async function createIntegration(context: Context, input: CreateIntegrationInput): Promise<CreatedIntegration> {
  requireFeature(callerOf(context).tenant, 'integrations');
  const tenantId = tenantOf(context);
  requireMappingScopes(
    callerOf(context),
    (input.mappings ?? []).map(({ template, groupIds }) => ({ template, groups: groupIds ?? [] })),
  );
  const errors = new FieldErrorList();
  const fields = parseIntegration(input, errors);
  if (input.name == null) errors.add('name', 'Is required.', 'REQUIRED');
  checkSecret(input.secret, errors);
  if ((input.mappings?.length ?? 0) > MAX_MAPPINGS)
    errors.add('mappings', `Takes at most ${MAX_MAPPINGS}.`, 'TOO_MANY');
  const generated = input.secret == null && input.kind !== 'shopify' ? newSecret() : null;
  const secret = input.secret ?? generated;
  return once<CreatedIntegration>(
    context,
    { operation: 'createIntegration', key: input.idempotencyKey, input },
    {
      async run(trx) {
        const mappings: CheckedMapping[] = [];
        for (const [index, mapping] of (input.mappings ?? []).slice(0, MAX_MAPPINGS).entries())
          mappings.push(await checkMapping(trx, tenantId, mapping, errors, `mappings.${index}.`));
        errors.throwIfAny();
        const current = await countIntegrations(trx, tenantId);
        if (current >= MAX_INTEGRATIONS)
          throw new CodedError('FEATURE_LIMIT_EXCEEDED', `There may be at most ${MAX_INTEGRATIONS} integrations.`, {
            details: { feature: 'integrations', current, maximum: MAX_INTEGRATIONS },
          });
        const id = await insertIntegration(trx, tenantId, {
          name: '',
          isEnabled: true,
          defaultCountry: null,
          topicPath: DEFAULT_TOPIC_PATH,
          ...fields,
          kind: input.kind,
          key: newKey(),
          secretSealed: secret === null ? null : context.secrets.seal(secret),
        });
        if (id === undefined) throw invalid({ name: [NAME_TAKEN] }, 'TAKEN');
        for (const mapping of mappings) await addMapping(trx, tenantId, { id, kind: input.kind }, mapping);
        return { integration: await requireIntegration(trx, tenantId, id), secret: generated };
      },
      store: ({ integration }) => ({ id: integration.id }),
      rebuild: async stored => ({
        integration: await requireIntegration(context.db.write, tenantId, (stored as { id: number }).id),
        secret: null,
      }),
    },
  );
}

/** Validates and normalises an input; adds faults to `errors`. */
export function parseIntegration(input: IntegrationInput, errors: FieldErrorList): Partial<IntegrationFields> {
  const name = input.name?.trim();
  if (name !== undefined && (name === '' || isLonger(name, MAX_NAME) || !isStorable(name)))
    errors.add('name', `Must have 1 to ${MAX_NAME} characters.`, lengthCode(name, MAX_NAME));
  const country = input.defaultCountry == null ? null : countryNamed(input.defaultCountry);
  if (country === undefined)
    errors.add('defaultCountry', 'Must be a country by ISO 3166-1 alpha-2 code, for example DE.');
  const topicPath = input.topicPath?.trim();
  if (topicPath !== undefined && !parsePath(topicPath))
    errors.add('topicPath', 'Must be a path, for example event or meta.type.');
  return {
    ...(name !== undefined && { name }),
    ...(input.isEnabled != null && { isEnabled: input.isEnabled }),
    ...(input.defaultCountry !== undefined && { defaultCountry: country ?? null }),
    ...(topicPath !== undefined && { topicPath }),
  };
}

/** Validates a secret: printable ASCII, at least 8 characters. */
export function checkSecret(secret: string | null | undefined, errors: FieldErrorList): void {
  if (secret == null) return;
  if (!/^[\x21-\x7e]{8,255}$/.test(secret)) {
    errors.add(
      'secret',
      'Must have 8 to 255 printable ASCII characters, no spaces.',
      secret.length < 8 ? 'TOO_SHORT' : 'INVALID',
    );
    return;
  }
  try {
    standardWebhook(secret);
  } catch {
    errors.add('secret', 'After whsec_ it must be base64.');
  }
}

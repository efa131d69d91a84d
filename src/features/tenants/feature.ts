import type { Tenant } from '../../context.ts';
import { CodedError } from '../../errors.ts';

/** What a plan includes or not, beside its numbers. Contacts, labels and text messages belong to every plan. */
export const FEATURES = ['bots', 'integrations', 'interactive', 'media', 'otp', 'templates', 'webhooks'] as const;

export type Feature = (typeof FEATURES)[number];

/**
 * Lets a call go on only where the tenant's plan includes a feature. Verbs ask before they read or write anything.
 * @throws FEATURE_NOT_AVAILABLE with `feature`
 */
export function requireFeature(tenant: Pick<Tenant, 'features' | 'planName'>, feature: Feature): void {
  if (tenant.features.has(feature)) return;
  throw new CodedError('FEATURE_NOT_AVAILABLE', `The plan ${tenant.planName} does not include ${feature}.`, {
    feature,
  });
}

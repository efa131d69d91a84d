import { CodedError } from '../../../core/errors.ts';
import { requireFeature } from '../../../core/plan-features.ts';
import { callerOf } from '../../../core/principal.ts';
import { countryOfPerson } from '../../../platform/phone-country.ts';
import { isPermitted, nextPermitted, zonesOfPerson } from '../../../platform/time-zones.ts';
import type { Context } from '../../../schema/context.ts';
import type { MoneyShape } from '../../../schema/money.ts';
import type { ContactRow } from '../../contacts/contact.ts';
import { contactsWhere } from '../../contacts/list.ts';
import { contactLoader } from '../../contacts/loaders.ts';
import { type Content, compose } from '../../messages/send/content.ts';
import type { Rendered } from '../../templates/sending/render.ts';
import { templateContent } from '../../templates/sending/send-template.ts';
import { monthOf } from '../../tenancy/usage/usage.ts';
import { membersOf, planMembers } from '../audience/members.sql.ts';
import type { CampaignRow, SendingHours } from '../campaign.ts';
import { requireCampaign } from '../change.ts';
import { reasonOf, type SkipReason } from '../recipients/recipient.ts';
import { contentFor } from '../run/content.ts';
import { countReached, readSendingConditions } from '../run/sending-conditions.sql.ts';
import { costOfPeople, durationOf } from './estimate.ts';
import { type CountedPeople, countDuplicates, countPeople, planLeft, valuesOf } from './preview.sql.ts';

/** Result of a dry run of a campaign. */
export interface Preview {
  readonly audience: number;
  readonly recipients: number;
  readonly skips: readonly { readonly reason: SkipReason; readonly count: number }[];
  /** Recipients who wait for their sending hours. */
  readonly waiting: number;
  /** Recipients for whom the plan has no message left this month. */
  readonly over_plan: number;
  readonly samples: readonly Sample[];
  readonly duration_seconds: number | null;
  readonly daily_limit: number | null;
  readonly reached: number | null;
  /** Undefined: not known. */
  readonly cost: readonly MoneyShape[] | undefined;
}

export interface Sample {
  readonly contact: ContactRow;
  /** Null if it would be skipped. */
  readonly rendered: Rendered | null;
  readonly fault: string | null;
}

const SAMPLES = 3;

/**
 * Counts who would get a campaign and who would not, with reasons, and estimates its time and cost. Writes nothing.
 * @throws NOT_FOUND; VALIDATION_ERROR on template.… if the template or its values do not exist any more
 */
export async function previewCampaign(context: Context, id: number): Promise<Preview> {
  const { tenant } = callerOf(context);
  requireFeature(tenant, 'templates');
  const { db, clock, prices } = context;
  const campaign = await requireCampaign(context, id);
  const content = await templateContent(context, { ...campaign.template, channelId: campaign.channel_id });
  const members = membersOf(tenant.id, campaign.audience, filter => contactsWhere(tenant.id, filter));
  const query = {
    category: content.category ?? null,
    channelId: campaign.channel_id,
    cap: campaign.frequency_cap,
  };
  const nowMs = clock.now();
  const [people, duplicates, left, conditions] = await Promise.all([
    db.transaction(async trx => {
      await planMembers(trx, members);
      return countPeople(trx, members, query);
    }),
    'listId' in campaign.audience ? countDuplicates(db.read, tenant.id, campaign.audience.listId) : 0,
    planLeft(db.read, tenant.id, monthOf(nowMs)),
    readSendingConditions(db.read, tenant.id, id, campaign.channel_id),
  ]);
  const fates = people.map(one => fateOf(one, campaign.sending_hours, nowMs));
  const skips = new Map<SkipReason, number>(duplicates > 0 ? [['duplicate', duplicates]] : []);
  for (const { reason, count } of fates) if (reason) skips.set(reason, (skips.get(reason) ?? 0) + count);
  const reachable = fates.filter(({ reason }) => reason === null);
  const recipients = sumOf(reachable);
  const { channel_id: channelId, messages_per_second: channelRate, messaging_limit: limit } = conditions;
  const reached =
    channelId === null || limit === null
      ? null
      : await countReached(db.write, tenant.id, channelId, conditions.portfolio_id);
  const rate = Math.min(campaign.messages_per_second ?? Number.POSITIVE_INFINITY, channelRate ?? 0);
  return {
    audience: sumOf(fates) + duplicates,
    recipients,
    skips: [...skips].map(([reason, count]) => ({ reason, count })),
    waiting: sumOf(reachable.filter(({ isWaiting }) => isWaiting)),
    over_plan: left === null ? 0 : Math.max(0, recipients - left),
    samples: await samplesOf(context, campaign, content, reachable),
    duration_seconds: rate > 0 ? durationOf(recipients, { rate, dailyLimit: limit, reached: reached ?? 0 }) : null,
    daily_limit: limit,
    reached,
    cost: costOfPeople(prices, content.category ?? null, reachable, nowMs),
  };
}

interface Fate {
  readonly reason: SkipReason | null;
  readonly isWaiting: boolean;
  readonly country: string | null;
  readonly count: number;
  readonly contactIds: readonly number[];
}

const sumOf = (fates: readonly Pick<Fate, 'count'>[]): number => fates.reduce((sum, { count }) => sum + count, 0);

/** Outcome for recipients, with the sending hours in their time zone. */
function fateOf(people: CountedPeople, hours: SendingHours | null, nowMs: number): Fate {
  const { phone, user_id: userId, time_zone: timeZone, count, contact_ids: contactIds } = people;
  const reason = reasonOf(people.reason);
  const zones = zonesOfPerson({ timeZone, phone, userId });
  const isPermittedNow = hours === null || isPermitted(zones, hours, nowMs);
  const isNever = !isPermittedNow && hours !== null && nextPermitted(zones, hours, nowMs) === undefined;
  return {
    reason: reason ?? (isNever ? 'outside_hours' : null),
    isWaiting: !isPermittedNow,
    country: countryOfPerson(phone, userId),
    count,
    contactIds,
  };
}

/** Three recipients, of different countries where there are several, with what they would get. */
async function samplesOf(
  context: Context,
  { audience }: CampaignRow,
  content: Content,
  reachable: readonly Fate[],
): Promise<Sample[]> {
  // One of each country first, then more of the largest.
  const largest = reachable.toSorted((a, b) => b.count - a.count).slice(0, SAMPLES);
  const ids = Array.from({ length: SAMPLES }, (_, place) =>
    largest.flatMap(({ contactIds }) => contactIds[place] ?? []),
  )
    .flat()
    .slice(0, SAMPLES);
  const tenantId = callerOf(context).tenant.id;
  const values = 'listId' in audience ? await valuesOf(context.db.read, tenantId, audience.listId, ids) : new Map();
  const contacts = await Promise.all(ids.map(id => contactLoader(context).load(id)));
  return contacts.flatMap(contact =>
    contact ? [sampleOf(contact, contentFor(content, values.get(contact.id) ?? null))] : [],
  );
}

function sampleOf(contact: ContactRow, content: Content): Sample {
  try {
    return { contact, rendered: compose(content, contact, true).content['rendered'] as Rendered, fault: null };
  } catch (error) {
    if (!(error instanceof CodedError)) throw error;
    return { contact, rendered: null, fault: error.message };
  }
}

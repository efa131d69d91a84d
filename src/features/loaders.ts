import DataLoader from 'dataloader';
import type { Database } from '../platform/database.ts';
import type { ChannelRow } from './channels/channel.ts';
import { getChannels } from './channels/store.ts';
import type { ContactRow } from './contacts/contact.ts';
import { getContacts, getGroupsOf } from './contacts/store.ts';
import type { IntegrationRow } from './integrations/integration.ts';
import { getIntegrations } from './integrations/store.ts';
import type { LabelRow } from './labels/label.ts';
import { countMembers, getLabels } from './labels/store.ts';
import type { StoredMedia } from './media/file.ts';
import { getMediaByNetworkId } from './media/store.ts';
import type { MessageRow } from './messages/message.ts';
import { getContactWindows, getMessagesByWamid, getWindows } from './messages/store.ts';
import type { StaffRow } from './staff/staff-member.ts';
import { getStaff } from './staff/store.ts';
import { getAttempts } from './webhooks/deliveries-store.ts';
import type { AttemptRow } from './webhooks/delivery.ts';
import type { EndpointRow } from './webhooks/endpoint.ts';
import { getEndpoints } from './webhooks/endpoints-store.ts';

type Maybe<T> = T | undefined;

/**
 * One set per operation, and per event of a subscription (rows that are kept longer would be stale). Each loader is made
 * when it is first used: most operations use none. In a mutation they only batch: what one of its fields has read,
 * the next one may have changed.
 */
export class Loaders {
  readonly #db: Database['read'];
  readonly #tenantId: number;
  readonly #options: { readonly cache: boolean };

  constructor(db: Database, tenantId: number, cache = true) {
    this.#db = db.read;
    this.#tenantId = tenantId;
    this.#options = { cache };
  }

  #rows<Row extends { readonly id: number }>(
    load: (ids: readonly number[]) => Promise<Row[]>,
  ): DataLoader<number, Maybe<Row>> {
    return new DataLoader(async ids => {
      const byId = new Map((await load(ids)).map(row => [row.id, row]));
      return ids.map(id => byId.get(id));
    }, this.#options);
  }

  #values<T>(load: (ids: readonly number[]) => Promise<Map<number, T>>, absent: T): DataLoader<number, T> {
    return new DataLoader(async ids => {
      const byId = await load(ids);
      return ids.map(id => byId.get(id) ?? absent);
    }, this.#options);
  }

  #source: Maybe<DataLoader<number, Maybe<LabelRow>>>;
  get source() {
    this.#source ??= this.#rows(ids => getLabels(this.#db, this.#tenantId, 'source', ids));
    return this.#source;
  }

  #status: Maybe<DataLoader<number, Maybe<LabelRow>>>;
  get status() {
    this.#status ??= this.#rows(ids => getLabels(this.#db, this.#tenantId, 'status', ids));
    return this.#status;
  }

  #staff: Maybe<DataLoader<number, Maybe<StaffRow>>>;
  get staff() {
    this.#staff ??= this.#rows(ids => getStaff(this.#db, this.#tenantId, ids));
    return this.#staff;
  }

  #contact: Maybe<DataLoader<number, Maybe<ContactRow>>>;
  get contact() {
    this.#contact ??= this.#rows(ids => getContacts(this.#db, this.#tenantId, ids));
    return this.#contact;
  }

  #channel: Maybe<DataLoader<number, Maybe<ChannelRow>>>;
  get channel() {
    this.#channel ??= this.#rows(ids => getChannels(this.#db, this.#tenantId, ids));
    return this.#channel;
  }

  #webhookEndpoint: Maybe<DataLoader<number, Maybe<EndpointRow>>>;
  get webhookEndpoint() {
    this.#webhookEndpoint ??= this.#rows(ids => getEndpoints(this.#db, this.#tenantId, ids));
    return this.#webhookEndpoint;
  }

  /** Attempts by delivery. */
  #webhookAttempts: Maybe<DataLoader<string, readonly AttemptRow[]>>;
  get webhookAttempts() {
    this.#webhookAttempts ??= new DataLoader(async ids => {
      const byDelivery = Map.groupBy(await getAttempts(this.#db, this.#tenantId, ids), row => row.delivery_id);
      return ids.map(id => byDelivery.get(id) ?? []);
    }, this.#options);
    return this.#webhookAttempts;
  }

  #integration: Maybe<DataLoader<number, Maybe<IntegrationRow>>>;
  get integration() {
    this.#integration ??= this.#rows(ids => getIntegrations(this.#db, this.#tenantId, ids));
    return this.#integration;
  }

  #groupsOf: Maybe<DataLoader<number, LabelRow[]>>;
  get groupsOf() {
    this.#groupsOf ??= this.#values<LabelRow[]>(ids => getGroupsOf(this.#db, this.#tenantId, ids), []);
    return this.#groupsOf;
  }

  #memberCount: Maybe<DataLoader<number, number>>;
  get memberCount() {
    this.#memberCount ??= this.#values(ids => countMembers(this.#db, this.#tenantId, ids), 0);
    return this.#memberCount;
  }

  /** Messages by the network's id. */
  #messageByWamid: Maybe<DataLoader<string, Maybe<MessageRow>>>;
  get messageByWamid() {
    this.#messageByWamid ??= new DataLoader(async wamids => {
      const rows = await getMessagesByWamid(this.#db, this.#tenantId, wamids);
      const byWamid = new Map(rows.map(row => [row.wamid, row]));
      return wamids.map(wamid => byWamid.get(wamid));
    }, this.#options);
    return this.#messageByWamid;
  }

  /** Uploads by the network's id of their file. */
  #upload: Maybe<DataLoader<string, Maybe<StoredMedia>>>;
  get upload() {
    this.#upload ??= new DataLoader(async ids => {
      const rows = await getMediaByNetworkId(this.#db, this.#tenantId, ids);
      const byId = new Map(rows.map(row => [row.network_media_id, row]));
      return ids.map(id => byId.get(id));
    }, this.#options);
    return this.#upload;
  }

  /** Window ends by conversation. */
  #window: Maybe<DataLoader<number, string | null>>;
  get window() {
    this.#window ??= this.#values<string | null>(ids => getWindows(this.#db, this.#tenantId, ids), null);
    return this.#window;
  }

  /** Window ends by contact, on the default channel. */
  #contactWindow: Maybe<DataLoader<number, string | null>>;
  get contactWindow() {
    this.#contactWindow ??= this.#values<string | null>(ids => getContactWindows(this.#db, this.#tenantId, ids), null);
    return this.#contactWindow;
  }
}

/** Client of the emulated network, whose routes a development gateway forwards at its own origin. */

type Json = Readonly<Record<string, unknown>>;

export interface ChatMessage {
  readonly wamid: string;
  readonly isFromPerson: boolean;
  /** Sender; undefined: the business. */
  readonly from?: string;
  readonly at: string;
  readonly type: string;
  /** As the network has it. */
  readonly content: Json;
  readonly text?: string;
  readonly template?: readonly Json[];
  readonly status?: string;
  /** The message that it quotes. */
  readonly replyTo?: string;
  readonly isEdited: boolean;
  readonly isRevoked: boolean;
  readonly reactions: readonly { readonly emoji: string; readonly isFromPerson: boolean }[];
}

export interface Group {
  readonly groupId: string;
  readonly subject: string;
}

/** Number of the business. */
export interface BusinessNumber {
  readonly phoneNumberId: string;
  readonly name: string;
  readonly phone: string;
}

export interface Chat {
  readonly isOffline: boolean;
  readonly isBlocking: boolean;
  readonly groups: readonly Group[];
  readonly number: BusinessNumber;
  readonly messages: readonly ChatMessage[];
}

export interface Emulator {
  /** All numbers of the emulated network. */
  numbers(): Promise<readonly BusinessNumber[]>;
  /** @param groupId the chat of a group instead of that with the business */
  chat(person: string, groupId?: string): Promise<Chat>;
  /** Takes the phone offline or back online, blocks or unblocks the business. */
  setPhone(phone: string, change: { readonly isOffline?: boolean; readonly isBlocking?: boolean }): Promise<void>;
  /** The person joins a group chat, which the first one creates. */
  join(phone: string, group: Group): Promise<void>;
  /** Sends a message, a tap or a file of the person. @throws Error with a message for the reader */
  inbound(message: Json): Promise<void>;
  /** The content of a file, as a blob URL. */
  media(id: string): Promise<string>;
  /** Simulates that this many hours have passed: service windows end that much earlier. */
  passTime(hours: number): Promise<void>;
  /** Whether the gateway forwards an emulated network's routes. */
  isThere(): Promise<boolean>;
}

interface ListedNumber {
  readonly phoneNumberId: string;
  readonly verifiedName: string;
  readonly displayPhoneNumber: string;
}

/** @param phoneNumberId the number that phones write to; undefined: the first one */
export function createEmulator(token: string, phoneNumberId?: string): Emulator {
  const place: Readonly<Record<string, string>> = phoneNumberId === undefined ? {} : { phoneNumberId };
  const call = async (path: string, body?: Json): Promise<Response> => {
    const response = await fetch(`/_emulator/${path}`, {
      method: body ? 'POST' : 'GET',
      headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    if (response.ok) return response;
    const { error } = (await response.json().catch(() => ({}))) as { readonly error?: string };
    throw new Error(typeof error === 'string' ? error : `HTTP ${response.status}`);
  };
  return {
    async numbers() {
      const { numbers } = (await (await call('numbers')).json()) as { readonly numbers: readonly ListedNumber[] };
      return numbers.map(({ phoneNumberId: id, verifiedName, displayPhoneNumber }) => ({
        phoneNumberId: id,
        name: verifiedName,
        phone: displayPhoneNumber,
      }));
    },
    chat: async (person, groupId) =>
      (
        await call(`chat?${new URLSearchParams({ person, ...place, ...(groupId !== undefined && { groupId }) })}`)
      ).json(),
    setPhone: async (phone, change) => void (await call('phones', { phone, ...place, ...change })),
    join: async (phone, group) => void (await call('groups', { phone, ...place, ...group })),
    inbound: async message => void (await call('inbound', { ...place, ...message })),
    media: async id => URL.createObjectURL(await (await call(`media?id=${encodeURIComponent(id)}`)).blob()),
    passTime: async passedHours => void (await call('time', { passedHours })),
    isThere: async () => (await fetch('/_emulator/numbers', { headers: { authorization: `Bearer ${token}` } })).ok,
  };
}

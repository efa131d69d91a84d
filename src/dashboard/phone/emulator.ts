/** The emulated network, which a development gateway shows at its own origin. */

type Json = Readonly<Record<string, unknown>>;

export interface ChatMessage {
  readonly wamid: string;
  readonly isFromPerson: boolean;
  readonly at: string;
  readonly type: string;
  /** As the network has it. */
  readonly content: Json;
  readonly text?: string;
  readonly template?: readonly Json[];
  readonly status?: string;
}

export interface Chat {
  readonly number: { readonly phoneNumberId: string; readonly name: string; readonly phone: string };
  readonly messages: readonly ChatMessage[];
}

export interface Emulator {
  chat(person: string): Promise<Chat>;
  /** The person writes, taps or sends a file. @throws Error in words */
  inbound(message: Json): Promise<void>;
  /** The content of a file, as the address of a blob. */
  media(id: string): Promise<string>;
  /** As if so many hours had passed: windows end so much earlier. */
  passTime(hours: number): Promise<void>;
  /** Whether the gateway shows an emulated network to this page. */
  isThere(): Promise<boolean>;
}

export function createEmulator(token: string): Emulator {
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
    chat: async person => (await call(`chat?person=${encodeURIComponent(person)}`)).json(),
    inbound: async message => void (await call('inbound', message)),
    media: async id => URL.createObjectURL(await (await call(`media?id=${encodeURIComponent(id)}`)).blob()),
    passTime: async passedHours => void (await call('time', { passedHours })),
    isThere: async () => (await fetch('/_emulator/numbers', { headers: { authorization: `Bearer ${token}` } })).ok,
  };
}

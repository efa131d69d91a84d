/** A business number on the network, as events carry it, without secrets. */
export interface PublicChannel {
  readonly id: number;
  readonly name: string;
  readonly phone_number_id: string;
  readonly waba_id: string;
  /** Business portfolio that owns the account; null if unknown. */
  readonly portfolio_id: string | null;
  readonly display_phone_number: string;
  readonly verified_name: string;
  readonly messages_per_second: number;
  readonly is_default: boolean;
  readonly is_sandbox: boolean;
  readonly status: 'active' | 'paused' | 'disconnected';
  readonly status_reason: string | null;
  readonly created_at: string;
  readonly updated_at: string;
}

export interface ChannelRef {
  readonly tenantId: number;
  readonly channelId: number;
}

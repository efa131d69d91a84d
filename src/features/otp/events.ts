import type { EventOtp } from './otp.ts';

type OtpPayload = { readonly otp: EventOtp };

declare module '../../core/events.ts' {
  interface EventPayloads {
    /** Its message was accepted. */
    'otp.sent': OtpPayload;
    'otp.verified': OtpPayload;
    /** A verification attempt failed. */
    'otp.failed': OtpPayload & { readonly reason: 'INVALID_CODE' | 'MAX_ATTEMPTS_EXCEEDED' };
    /** It expired without being verified. */
    'otp.expired': OtpPayload;
  }
}

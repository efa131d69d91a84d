import type { MessageStatus } from '../documents.generated.ts';
import { useTexts } from '../texts/texts.tsx';

const OUTLINES: Partial<Record<MessageStatus, string>> = {
  SCHEDULED: 'M8 13A5.500 5.500 0 1 0 8 2a5.500 5.500 0 0 0 0 11zM8 4.500V8l2 1',
  QUEUED: 'M8 13A5.500 5.500 0 1 0 8 2a5.500 5.500 0 0 0 0 11zM8 4.500V8l2 1',
  SENT: 'M3 8.500l3 3 7-7',
  DELIVERED: 'M1 8.500l3 3 7-7M8 10.500l1 1 7-7',
  READ: 'M1 8.500l3 3 7-7M8 10.500l1 1 7-7',
  FAILED: 'M8 13.500A5.500 5.500 0 1 0 8 2.500a5.500 5.500 0 0 0 0 11zM8 5.500v3.200M8 10.800h.01',
  CANCELLED: 'M4 4l8 8M12 4l-8 8',
};

/** How far an outbound message has come: a clock, one tick, two ticks, two coloured ticks. */
export function StatusTick({ status }: { readonly status: MessageStatus }) {
  const { t } = useTexts();
  const outline = OUTLINES[status];
  if (outline === undefined) return null;
  const label = t(
    `message.${status as 'SCHEDULED' | 'QUEUED' | 'SENT' | 'DELIVERED' | 'READ' | 'FAILED' | 'CANCELLED'}`,
  );
  return (
    <svg
      className={`tick ${status.toLowerCase()}`}
      width="17"
      height="16"
      viewBox="0 0 17 16"
      role="img"
      aria-label={label}
    >
      <path d={outline} />
    </svg>
  );
}

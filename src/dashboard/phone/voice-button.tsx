import { useEffect, useRef, useState } from 'react';
import { useTexts } from '../texts/texts.tsx';
import { Icon } from '../ui/icon.tsx';
import { base64Of } from './base64.ts';
import { toneOf } from './voice-sample.ts';

interface Props {
  readonly isDisabled: boolean;
  readonly onVoice: (message: Readonly<Record<string, unknown>>) => void;
}

/** Records a voice message: the first tap begins, the second one sends. Without a microphone a short tone is sent. */
export function VoiceButton({ isDisabled, onVoice }: Props) {
  const { t } = useTexts();
  const [isRecording, setRecording] = useState(false);
  const recorder = useRef<MediaRecorder>(undefined);
  useEffect(() => () => recorder.current?.stop(), []);
  const send = async (recording: Blob): Promise<void> =>
    onVoice({
      type: 'audio',
      voice: true,
      mimeType: recording.type.replace('audio/webm', 'audio/ogg').replace(/;\s*/, '; '),
      dataBase64: await base64Of(recording),
    });
  const toggle = async (): Promise<void> => {
    if (recorder.current?.state === 'recording') return recorder.current.stop();
    const microphone = await navigator.mediaDevices?.getUserMedia({ audio: true }).catch(() => undefined);
    if (!microphone) return send(await toneOf(880));
    const parts: Blob[] = [];
    const media = new MediaRecorder(microphone);
    recorder.current = media;
    media.ondataavailable = ({ data }) => parts.push(data);
    media.onstop = () => {
      for (const track of microphone.getTracks()) track.stop();
      setRecording(false);
      void send(new Blob(parts, { type: media.mimeType }));
    };
    media.start();
    setRecording(true);
  };
  return (
    <button
      type="button"
      className={isRecording ? 'icon-button phone-recording' : 'icon-button'}
      disabled={isDisabled}
      aria-pressed={isRecording}
      aria-label={t(isRecording ? 'phone.sendVoice' : 'phone.recordVoice')}
      onClick={() => void toggle()}
    >
      <Icon name="voice" />
    </button>
  );
}

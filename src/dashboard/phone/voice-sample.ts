const SAMPLE_RATE = 8_000;
const SECONDS = 1;

/** A second of a tone as a WAV file, for pages without a microphone. @param hertz its pitch */
export async function toneOf(hertz: number): Promise<Blob> {
  const samples = new Int16Array(SAMPLE_RATE * SECONDS);
  for (let index = 0; index < samples.length; index += 1) {
    const fade = Math.min(1, (samples.length - index) / (SAMPLE_RATE / 4));
    samples[index] = Math.sin((2 * Math.PI * hertz * index) / SAMPLE_RATE) * 8_000 * fade;
  }
  const header = new DataView(new ArrayBuffer(44));
  const word = (at: number, text: string): void => {
    for (let index = 0; index < 4; index += 1) header.setUint8(at + index, text.charCodeAt(index));
  };
  word(0, 'RIFF');
  header.setUint32(4, 36 + samples.byteLength, true);
  word(8, 'WAVE');
  word(12, 'fmt ');
  header.setUint32(16, 16, true);
  header.setUint16(20, 1, true);
  header.setUint16(22, 1, true);
  header.setUint32(24, SAMPLE_RATE, true);
  header.setUint32(28, SAMPLE_RATE * 2, true);
  header.setUint16(32, 2, true);
  header.setUint16(34, 16, true);
  word(36, 'data');
  header.setUint32(40, samples.byteLength, true);
  return new Blob([header, samples], { type: 'audio/wav' });
}

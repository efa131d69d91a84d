/** A file of a form, which the network has by now. JSON cannot say it. */
export class ReceivedFile {
  readonly mediaId: string;

  constructor(mediaId: string) {
    this.mediaId = mediaId;
  }
}

/** Outlines on a grid of 24, drawn with round strokes of 1.75. */
const PATHS = {
  inbox: 'M4 13l2.500-8h11L20 13v6H4zM4 13h4.500l1.500 3h4l1.500-3H20',
  live: 'M3 12h4l3-8 4 16 3-8h4',
  contacts:
    'M9 11a3.500 3.500 0 1 0 0-7 3.500 3.500 0 0 0 0 7zM2.500 20c.5-3.500 3-5.500 6.500-5.500s6 2 6.500 5.500M16 4.300a3.500 3.500 0 0 1 0 6.400M18.500 15c1.800.9 2.700 2.600 3 5',
  campaigns: 'M4 10v4l3 .5L9 20h2.500l-1.300-5L20 18V6L7 9.500z',
  templates: 'M5 4h14v16H5zM8.500 8.500h7M8.500 12h7M8.500 15.500h4',
  bots: 'M12 4v3M6 7h12v11H6zM9.500 12v1M14.500 12v1M3.500 11v4M20.500 11v4',
  webhooks:
    'M9 8.500a3.500 3.500 0 1 1 5.500 3L17 16M7 20a3.500 3.500 0 1 1 1.500-6.500h5M20.500 16.500a3.500 3.500 0 1 1-6-2.500M7 16.500l4-7',
  integrations: 'M8 4v4M16 4v4M6 8h12v3a6 6 0 0 1-12 0zM12 17v4',
  tokens: 'M14 10a4 4 0 1 0-3.900 4L12 12h2v-2zM14 10l6-6M17 7l2.500 2.500',
  channels: 'M5 12a7 7 0 0 1 14 0M8.500 12a3.500 3.500 0 0 1 7 0M12 12v8',
  usage: 'M4 20V10M10 20V4M16 20v-7M21 20H3',
  phone: 'M8 3h8v18H8zM11 18h2',
  search: 'M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM16 16l4.500 4.500',
  send: 'M4 12l16-8-5 16-3.500-6.500z',
  attach:
    'M20 11l-8.500 8.500a5 5 0 0 1-7-7L13 4a3.300 3.300 0 0 1 4.700 4.700l-8.500 8.500a1.700 1.700 0 0 1-2.400-2.400L14 7.500',
  check: 'M5 13l4.500 4.500L19 7',
  close: 'M6 6l12 12M18 6L6 18',
  clock: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM12 7v5l3.500 2',
  tag: 'M4 4h8l8 8-8 8-8-8zM8 8h.01',
  user: 'M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM4.500 20.500c.6-4 3.500-6 7.500-6s6.900 2 7.500 6',
  note: 'M5 4h14v11l-5 5H5zM14 20v-5h5',
  quick: 'M13 3L5 14h6l-1 7 8-11h-6z',
  more: 'M6 12h.01M12 12h.01M18 12h.01',
  back: 'M15 5l-7 7 7 7',
  arrow: 'M4 12h16M14 6l6 6-6 6',
  panel: 'M4 5h16v14H4zM15 5v14',
  plus: 'M12 5v14M5 12h14',
  alert: 'M12 4l9 16H3zM12 10v4.500M12 17.500h.01',
  file: 'M6 3h8l5 5v13H6zM14 3v5h5',
  pin: 'M12 21c4.500-5 7-8.300 7-11.500a7 7 0 0 0-14 0C5 12.700 7.500 16 12 21zM12 12a2.500 2.500 0 1 0 0-5 2.500 2.500 0 0 0 0 5z',
  reply: 'M9 6l-6 6 6 6M3.500 12H15a6 6 0 0 1 6 6',
  forward: 'M4 6l7 6-7 6zM13 6l7 6-7 6z',
  image: 'M4 5h16v14H4zM4 16l5-5 4 4 2.500-2.500L20 17M15.500 9h.01',
  list: 'M8 6h12M8 12h12M8 18h12M4 6h.01M4 12h.01M4 18h.01',
  sun: 'M12 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM12 2.500V4M12 20v1.500M2.500 12H4M20 12h1.500M5.300 5.300l1 1M17.700 17.700l1 1M5.300 18.700l1-1M17.700 6.300l1-1',
  pause: 'M8 5v14M16 5v14',
  play: 'M7 4l13 8-13 8z',
  trash: 'M4 7h16M9 7V4h6v3M6.500 7l1 13h9l1-13',
  edit: 'M4 20l1-4.500L16.500 4 20 7.500 8.500 19z',
  merge: 'M6 4v4c0 4 6 4 6 8v4M18 4v4c0 4-6 4-6 8',
  replay: 'M4 12a8 8 0 1 0 2.500-5.800L4 8.500M4 4v4.500h4.500',
  smile:
    'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM8.500 14c.8 1.400 2 2.100 3.500 2.100s2.700-.7 3.500-2.100M9 9.500h.01M15 9.500h.01',
  voice: 'M12 14a3 3 0 0 0 3-3V6a3 3 0 0 0-6 0v5a3 3 0 0 0 3 3zM6 11a6 6 0 0 0 12 0M12 17v4',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  download: 'M12 4v11M7 10.500l5 5 5-5M4 20h16',
  upload: 'M12 16V5M7 9.500l5-5 5 5M4 20h16',
  filter: 'M4 5h16l-6.500 8v6l-3-1.500V13z',
  link: 'M14 5h5v5M19 5l-8 8M17 14v5H5V7h5',
  call: 'M6 4h3l2 5-2.500 1.500a11 11 0 0 0 5 5L15 13l5 2v3a2 2 0 0 1-2 2A16 16 0 0 1 4 6a2 2 0 0 1 2-2z',
  calendar: 'M5 6h14v14H5zM5 10.500h14M9 3.500V7M15 3.500V7',
} as const;

export type IconName = keyof typeof PATHS;

/** Icons that are mirrored in right-to-left languages. */
const MIRRORED: ReadonlySet<IconName> = new Set(['back', 'arrow', 'send', 'reply', 'forward', 'list', 'panel', 'play']);

/** Decorative: the meaning is in the text beside it, or in the label of its button. */
export const Icon = ({ name, size = 20 }: { readonly name: IconName; readonly size?: number }) => (
  <svg
    className={MIRRORED.has(name) ? 'icon mirrored' : 'icon'}
    width={size}
    height={size}
    viewBox="0 0 24 24"
    aria-hidden="true"
    focusable="false"
  >
    <path d={PATHS[name]} />
  </svg>
);

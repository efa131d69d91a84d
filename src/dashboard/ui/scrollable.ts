/** Props of an element that scrolls: in the tab order, so that a keyboard can scroll it. */
export const SCROLLABLE = { tabIndex: 0 };

/** Kong's names of the formats. */
export const versions = ['kong', 'draft4', 'draft6', 'draft7', 'draft201909', 'draft202012'] as const;
export type Version = (typeof versions)[number];

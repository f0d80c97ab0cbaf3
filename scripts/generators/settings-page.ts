import { settingsMarkdown } from '../../src/shared/settings/markdown.ts';
import type { Generator } from '../lib/generated-file.ts';

export const generateSettingsPage: Generator = async () => [{ path: 'docs/settings.md', content: settingsMarkdown() }];

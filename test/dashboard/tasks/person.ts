import type { Locator, Page } from 'playwright-core';

/** Uses the dashboard as a person does, and counts: each click, each field that is filled in or chosen, and each key is a step. */
export class Person {
  readonly page: Page;
  steps = 0;

  constructor(page: Page) {
    this.page = page;
  }

  async click(target: Locator): Promise<void> {
    this.steps++;
    await target.first().click();
  }

  async type(target: Locator, text: string): Promise<void> {
    this.steps++;
    await target.fill(text);
  }

  async choose(target: Locator, option: string | { readonly index: number }): Promise<void> {
    this.steps++;
    await target.selectOption(option);
  }

  /** A file dialog is one click and one choice. */
  async chooseFile(target: Locator, path: string): Promise<void> {
    this.steps += 2;
    await target.setInputFiles(path);
  }

  async press(key: string): Promise<void> {
    this.steps++;
    await this.page.keyboard.press(key);
  }

  /** A link of the navigation. */
  goTo(name: string): Promise<void> {
    return this.click(this.page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name, exact: true }));
  }

  link(name: string | RegExp): Promise<void> {
    return this.click(this.page.getByRole('main').getByRole('link', { name, exact: typeof name === 'string' }));
  }

  button(name: string | RegExp): Promise<void> {
    return this.click(this.page.getByRole('button', { name, exact: typeof name === 'string' }));
  }

  /** From the command palette: the shortcut, the text, and Enter once the line is the active one. */
  async command(text: string, line: RegExp): Promise<void> {
    await this.press('Control+k');
    const input = this.page.getByRole('combobox', { name: 'Search everything' });
    await this.type(input, text);
    const option = this.page.getByRole('option', { name: line }).first();
    await option.waitFor();
    const wanted = await option.getAttribute('id');
    for (let down = 0; down < 10 && (await input.getAttribute('aria-activedescendant')) !== wanted; down++) {
      await this.press('ArrowDown');
    }
    await this.press('Enter');
  }

  /** A field of a form: `config.minute`. */
  field(name: string, text: string): Promise<void> {
    return this.type(this.page.locator(`#field-${name.replaceAll('.', '-')}`), text);
  }

  /** Reads: waits for a text, which is no step. */
  sees(text: string | RegExp): Promise<void> {
    return this.page.getByText(text).first().waitFor();
  }

  /** The page of an entity that was created. */
  seesEntity(entity: string): Promise<void> {
    return this.page.waitForURL(new RegExp(`/config/${entity}/[0-9a-f-]{36}`));
  }
}

/**
 * What somebody types for a script: each command with its URL, each option, and each value that is copied from an earlier answer (a variable
 * in small letters).
 */
export function scriptSteps(script: string): number {
  const commands = script.match(/\b(?:curl|jq|openssl|base64|tr)\b/g)?.length ?? 0;
  const options = script.match(/\s(?:-[dHXF]|--data\S*|--json)\s/g)?.length ?? 0;
  const copied = script.match(/\$\{?[a-z]\w*/g)?.length ?? 0;
  return commands + options + copied;
}

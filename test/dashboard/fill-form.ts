import type { Page } from 'playwright-core';

/** Enters values into a form, by field: `config.minute`. A reference is chosen by its name. */
export async function fillForm(page: Page, fields: Readonly<Record<string, string>>): Promise<void> {
  for (const [field, text] of Object.entries(fields)) await fillField(page, field, text);
}

async function fillField(page: Page, field: string, text: string): Promise<void> {
  const control = page.locator(`#field-${field.replaceAll('.', '-')}`);
  await control.waitFor({ state: 'attached' });
  await control.evaluate((element) => {
    for (let at = element.closest('details'); at !== null; at = at.parentElement?.closest('details') ?? null)
      at.open = true;
  });
  const [kind, role] = await control.evaluate((element) => [element.tagName, element.getAttribute('role')]);
  if (kind === 'SELECT') await control.selectOption(text);
  else if (role === 'combobox') {
    await control.fill(text);
    await page.getByRole('option', { name: text }).first().click();
  } else await control.fill(text);
}

/** The button that saves, and the end of the request. */
export async function save(page: Page): Promise<void> {
  const button = page.locator('form .form-foot button[type=submit]');
  // The effect of the change is computed by the way.
  const answered = page.waitForResponse(
    (response) => response.request().method() !== 'GET' && !response.url().endsWith('/what-if'),
  );
  await button.click();
  await answered;
}

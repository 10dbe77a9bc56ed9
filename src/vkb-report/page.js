/* Subjects are hidden and shown by their boxes in the legend. */
document.querySelectorAll('[data-subject]').forEach(function (box) {
  box.hidden = false;
  box.addEventListener('change', function () {
    document.body.classList.toggle('hide' + box.dataset.subject, !box.checked);
  });
});
